import { creditsNumber, isoTime } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import { type Rate, rateOf } from '../../../programs/client/pricing.ts';
import { jobView, usageView } from '../../contracts/views.ts';
import type { ConsoleJob } from '../contracts/job.ts';
import { type ConsoleJobRow, type JobTimings, selectTimings } from '../sql/jobs.ts';

/** Jobs as the pages show them, in the order of the rows. One statement reads all timings. */
export async function viewJobs(
  database: Database,
  rows: readonly ConsoleJobRow[],
): Promise<ConsoleJob[]> {
  if (rows.length === 0) return [];
  const addresses = rows.map(({ address }) => address);
  const timings = await selectTimings(database, addresses);
  return rows.map((row) => consoleJobView(row, timings.get(row.address)));
}

function consoleJobView(row: ConsoleJobRow, timings: JobTimings | undefined): ConsoleJob {
  return {
    ...jobView(row),
    locked_credits: creditsNumber(row.locked_credits),
    price: {
      credits_per_request: creditsNumber(row.credits_per_request),
      credits_per_1k_tokens: creditsNumber(row.credits_per_1k_tokens),
      long_completion_threshold: Number(row.long_completion_threshold_tokens),
    },
    rate: chargedRate(row),
    attempt: row.attempt,
    acknowledged_at: timeOrNull(row.acknowledged_at),
    proven_at: timeOrNull(row.proven_at),
    settled_at: timeOrNull(row.settled_at),
    timeout_at: isoTime(row.locked_at + BigInt(row.job_timeout_seconds)),
    is_closed: row.closed,
    disputed_by_wallet: row.disputed_by_wallet,
    dispute_resolved_at: timeOrNull(row.resolved_at),
    controller: row.controller,
    timings: timings ?? null,
  };
}

/** Which of its two prices a job was charged; null without a charge. */
export function chargedRate(row: ConsoleJobRow): Rate | null {
  const usage = usageView(row);
  if (usage === null || !(row.status === 'settled' || row.status === 'disputed')) return null;
  const longCompletionThresholdTokens = Number(row.long_completion_threshold_tokens);
  return rateOf({ longCompletionThresholdTokens }, usage.completion_tokens);
}

export function timeOrNull(unixSeconds: bigint | null): string | null {
  return unixSeconds === null ? null : isoTime(unixSeconds);
}
