import type pg from 'pg';
import type { JobListQuery } from '../../api/contracts/job.ts';

/** The columns of a job that a listing filters or sorts by. */
export interface MirroredJob {
  wallet: string;
  id: string;
  /** Ledger seconds. */
  lockedAt: number;
  status: string;
  model: string;
}

const ROWS_MAX = 10_000;

/** Inserts jobs into the mirror's table, without their events. */
export async function insertMirroredJobs(
  pool: pg.Pool,
  jobs: readonly MirroredJob[],
): Promise<void> {
  for (let from = 0; from < jobs.length; from += ROWS_MAX) {
    const rows = jobs.slice(from, from + ROWS_MAX);
    await pool.query(
      `insert into mirror.jobs (
         address, job_id, credit_account, wallet, controller, model, model_id, tier, status, attempt,
         token_limit, credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens,
         treasury_share_basis_points, slash_tokens, job_timeout_seconds, dispute_window_seconds,
         arbitration_window_seconds, rent_payer, locked_credits, charged_credits, locked_at,
         escrow_tx, escrow_slot, closed, sequence)
       select wallet || ' ' || id, id, 'account', wallet, 'controller', 'model', model, 'lite',
         status, 0, 2000, 2, 1, 500, 1500, 500, 120, 60, 86400, 'payer', 2, 0, locked_at,
         'signature', 1, false, 1
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])
         as row (wallet, id, locked_at, status, model)`,
      [
        rows.map(({ wallet }) => wallet),
        rows.map(({ id }) => id),
        rows.map(({ lockedAt }) => lockedAt),
        rows.map(({ status }) => status),
        rows.map(({ model }) => model),
      ],
    );
  }
}

/** One way to list a wallet's jobs. */
export interface JobListing {
  name: string;
  query: Omit<JobListQuery, 'limit'>;
  /** The number of jobs on a page of 20, for a wallet of any size. */
  rows: number;
}

const FIRST_SECOND = 1_800_000_000;
const JOBS_PER_SECOND = 5;
const RARE_JOBS = 5;

const secondOf = (place: number) => FIRST_SECOND + Math.floor(place / JOBS_PER_SECOND);

/** @param place counted from the wallet's first job, which is 0 */
function idOf(place: number): string {
  const timeMs = (secondOf(place) * 1_000).toString(16).padStart(12, '0');
  return `job_${timeMs}70008000${place.toString(16).padStart(12, '0')}`;
}

/**
 * A wallet's jobs. The rare ones are the oldest, so that a scan from the newest reads everything. Rare
 * are one status, one model, and one pair of a common status and a common model.
 */
export function jobsOf(wallet: string, count: number): MirroredJob[] {
  return Array.from({ length: count }, (_, place) => {
    const isRare = place < RARE_JOBS;
    const isEven = place % 2 === 0;
    const isPair = place === RARE_JOBS;
    return {
      wallet,
      id: idOf(place),
      lockedAt: secondOf(place),
      status: isRare ? 'disputed' : isEven || isPair ? 'failed' : 'settled',
      model: isRare ? 'model-rare' : isEven ? 'model-even' : 'model-odd',
    };
  });
}

/** Each kind of cursor and filter, for a wallet of at least 100 jobs. */
export function listingsOf(count: number): JobListing[] {
  const early = idOf(40);
  const late = idOf(count - 40);
  const pair = { status: 'failed', model: 'model-odd' } as const;
  const listings: [string, JobListing['query'], number][] = [
    ['the first page', {}, 20],
    ['before an early job', { before: early }, 20],
    ['before a late job', { before: late }, 20],
    ['after an early job', { after: early }, 20],
    ['after a late job', { after: late }, 20],
    ['between two jobs', { after: idOf(0), before: early }, 20],
    ['a common status', { status: 'settled' }, 20],
    ['a rare status', { status: 'disputed' }, 5],
    ['a rare status before a late job', { status: 'disputed', before: late }, 5],
    ['a rare status after an early job', { status: 'disputed', after: early }, 0],
    ['a status that no job has', { status: 'refunded' }, 0],
    ['a common model', { model: 'model-even' }, 20],
    ['a rare model', { model: 'model-rare' }, 5],
    ['a rare model before a late job', { model: 'model-rare', before: late }, 5],
    ['a rare model after the first job', { model: 'model-rare', after: idOf(0) }, 4],
    ['a rare pair of status and model', pair, 1],
    ['a rare pair before a late job', { ...pair, before: late }, 1],
    ['a rare pair after an early job', { ...pair, after: early }, 0],
  ];
  return listings.map(([name, query, rows]) => ({ name, query, rows }));
}
