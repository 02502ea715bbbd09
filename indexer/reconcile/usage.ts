import type pg from 'pg';
import { type Difference, inSnapshot } from './difference.ts';

/** More than help to see what is wrong. */
const DIFFERENCES_MAX = 100;

/** Whether a job was charged at the rate for long texts. */
const IS_LONG = `status in ('settled', 'disputed')
  and least(completion_tokens, counted_tokens) > long_completion_threshold_tokens`;

/** Compares the hours of usage with a sum over the jobs that they follow. */
export function compareUsage(pool: pg.Pool): Promise<Difference[]> {
  return inSnapshot(pool, async (database) => {
    const { rows } = await database.query<Pick<Difference, 'address' | 'mirror' | 'expected'>>(
      `with counted as (
         select wallet, locked_at - locked_at % 3600 as hour, model_id, coalesce(worker, '') as worker,
           row(count(*), count(*) filter (where status in ('settled', 'disputed')),
             count(*) filter (where status = 'failed'),
             count(*) filter (where status = 'refunded'), sum(charged_credits),
             sum(coalesce(prompt_tokens, 0)),
             sum(coalesce(least(completion_tokens, counted_tokens), 0)),
             count(*) filter (where ${IS_LONG}),
             coalesce(sum(charged_credits) filter (where ${IS_LONG}), 0))::text as sums
         from jobs group by 1, 2, 3, 4
       ), kept as (
         select wallet, hour, model_id, worker,
           row(jobs, settled, failed, refunded, charged_credits, prompt_tokens,
             completion_tokens, long_jobs, long_credits)::text as sums
         from usage_hours
       )
       select concat_ws(' ', wallet, hour, model_id, worker) as address,
         kept.sums as mirror, counted.sums as expected
       from counted full join kept using (wallet, hour, model_id, worker)
       where kept.sums is distinct from counted.sums
       limit ${DIFFERENCES_MAX}`,
    );
    return rows.map((row) => ({ against: 'jobs', column: 'usage', ...row }));
  });
}
