import type { Database } from '../../../common/postgres.ts';
import { type JobRow, jobColumns } from '../../sql/jobs.ts';

/** A job with what the pages show besides what /v1 does. */
export interface ConsoleJobRow extends JobRow {
  wallet: string;
  locked_credits: bigint;
  credits_per_request: bigint;
  credits_per_1k_tokens: bigint;
  long_completion_threshold_tokens: bigint;
  attempt: number;
  acknowledged_at: bigint | null;
  proven_at: bigint | null;
  resolved_at: bigint | null;
  job_timeout_seconds: number;
  closed: boolean;
  disputed_by_wallet: boolean;
  controller: string;
}

export const consoleJobColumns = `${jobColumns}, wallet, locked_credits, credits_per_request,
  credits_per_1k_tokens, long_completion_threshold_tokens, attempt, acknowledged_at, proven_at,
  resolved_at, job_timeout_seconds, closed, disputed_by_wallet, controller`;

export async function selectConsoleJob(
  database: Database,
  key: { wallet: string; jobId: string },
): Promise<ConsoleJobRow | undefined> {
  const { rows } = await database.query<ConsoleJobRow>(
    `select ${consoleJobColumns} from mirror.jobs where wallet = $1 and job_id = $2`,
    [key.wallet, key.jobId],
  );
  return rows[0];
}

/** The given jobs that belong to the given wallets. */
export async function selectChangedJobs(
  database: Database,
  key: { addresses: readonly string[]; wallets: readonly string[] },
): Promise<ConsoleJobRow[]> {
  const { rows } = await database.query<ConsoleJobRow>(
    `select ${consoleJobColumns} from mirror.jobs
     where address = any($1) and wallet = any($2)
     order by locked_at, job_id`,
    [key.addresses, key.wallets],
  );
  return rows;
}

/** A job changes no later after its lock: timeout, dispute window, arbitration, and a margin. */
const CHANGING_SECONDS_MAX = 90_000;

/** A wallet's jobs that changed at or after a time of the ledger. */
export async function selectJobsSince(
  database: Database,
  key: { wallet: string; sinceSeconds: bigint; limit: number },
): Promise<ConsoleJobRow[]> {
  const { rows } = await database.query<ConsoleJobRow>(
    `select ${consoleJobColumns} from mirror.jobs
     where wallet = $1 and locked_at >= $2::bigint - ${CHANGING_SECONDS_MAX}
       and greatest(locked_at, acknowledged_at, proven_at, settled_at, ended_at, disputed_at,
         resolved_at) >= $2
     order by locked_at, job_id limit $3`,
    [key.wallet, key.sinceSeconds, key.limit],
  );
  return rows;
}

export interface Balance {
  available_credits: bigint;
  locked_credits: bigint;
  /** The sequence of the account's newest event. */
  sequence: bigint;
}

/** The balances of wallets. Those without an account are left out. */
export async function selectBalances(
  database: Database,
  wallets: readonly string[],
): Promise<Map<string, Balance>> {
  const { rows } = await database.query<Balance & { wallet: string }>({
    name: 'console-balances',
    text: `select wallet, available_credits, locked_credits, sequence from mirror.credit_accounts
           where wallet = any($1)`,
    values: [wallets],
  });
  return new Map(rows.map(({ wallet, ...balance }) => [wallet, balance]));
}

/** Milliseconds of one job; null where a stage was not reached. */
export interface JobTimings {
  lock_ms: number | null;
  first_token_ms: number | null;
  worker_ms: number | null;
  settlement_ms: number | null;
}

/** The timings of jobs, by their addresses. */
export async function selectTimings(
  database: Database,
  addresses: readonly string[],
): Promise<Map<string, JobTimings>> {
  const { rows } = await database.query<JobTimings & { job: string }>(
    `select job, lock_ms, first_token_ms, worker_ms, settlement_ms
     from service.job_timings where job = any($1)`,
    [addresses],
  );
  return new Map(rows.map(({ job, ...timings }) => [job, timings]));
}
