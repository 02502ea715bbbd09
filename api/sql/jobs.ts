import { columnsOf, type Database } from '../../common/postgres.ts';
import type {
  DisputeOutcome,
  FailureReason,
  JobStatus,
  Tier,
} from '../../programs/client/generated/vocabulary.ts';

/** A job as the mirror holds it; times are ledger seconds. */
export interface JobRow {
  address: string;
  job_id: string;
  status: JobStatus;
  outcome: DisputeOutcome | null;
  failure_reason: Exclude<FailureReason, 'none'> | null;
  model_id: string;
  tier: Tier;
  worker: string | null;
  charged_credits: bigint;
  output_hash: string | null;
  prompt_tokens: bigint | null;
  completion_tokens: bigint | null;
  counted_tokens: bigint | null;
  locked_at: bigint;
  ended_at: bigint | null;
  settled_at: bigint | null;
  dispute_window_seconds: number;
  escrow_tx: string;
  escrow_slot: bigint;
  settlement_tx: string | null;
  settlement_slot: bigint | null;
  refund_tx: string | null;
  client_hash: string | null;
  dispute_tx: string | null;
  disputed_at: bigint | null;
  arbitration_ends_at: bigint | null;
  resolution_tx: string | null;
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

const jobColumns = `
  address, job_id, status, outcome, failure_reason, model_id, tier, worker, charged_credits, output_hash,
  prompt_tokens, completion_tokens, counted_tokens, locked_at, ended_at, settled_at,
  dispute_window_seconds, escrow_tx, escrow_slot, settlement_tx, settlement_slot, refund_tx,
  client_hash, dispute_tx, disputed_at, arbitration_ends_at, resolution_tx, wallet, locked_credits,
  credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens, attempt,
  acknowledged_at, proven_at, resolved_at, job_timeout_seconds, closed, disputed_by_wallet,
  controller`;

/** The wallet's job of this id; ids are unique per wallet only, so the wallet is part of the key. */
export async function selectJob(
  database: Database,
  key: { wallet: string; jobId: string },
): Promise<JobRow | undefined> {
  const { rows } = await database.query<JobRow>({
    name: 'select_job',
    text: `select ${jobColumns} from mirror.jobs where wallet = $1 and job_id = $2`,
    values: [key.wallet, key.jobId],
  });
  return rows[0];
}

/** How many disputes a wallet has open, of how many that a service may open for it. */
interface DisputeLimitRow {
  limit: number;
  open: number;
  /** When the first of them expires, in ledger seconds; null where the mirror has none. */
  next_ends_at: bigint | null;
}

export async function selectDisputeLimit(
  database: Database,
  wallet: string,
): Promise<DisputeLimitRow> {
  const { rows } = await database.query<DisputeLimitRow>(
    `select open_disputes_max as limit, coalesce(open_disputes, 0) as open,
       (select min(arbitration_ends_at) from mirror.jobs where status = 'disputed' and wallet = $1)
         as next_ends_at
     from mirror.config left join mirror.credit_accounts on wallet = $1`,
    [wallet],
  );
  return rows[0] as DisputeLimitRow;
}

/** What the mirror knows of a job's end and dispute. */
export interface JobProgress {
  status: JobStatus;
  settlement_tx: string | null;
  refund_tx: string | null;
  dispute_tx: string | null;
  available_credits: bigint;
}

/**
 * Each looked up by itself, however large the tables were when the plan was made.
 *
 * @returns in the order of the addresses; undefined where the mirror has no such job
 */
export async function selectJobsProgress(
  database: Database,
  addresses: readonly string[],
): Promise<(JobProgress | undefined)[]> {
  const { rows } = await database.query<JobProgress & { address: string }>({
    name: 'select_jobs_progress',
    text: `
      select job.address, job.status, job.settlement_tx, job.refund_tx, job.dispute_tx,
        account.available_credits
      from unnest($1::text[]) as given (address)
      cross join lateral (
        select * from mirror.jobs where address = given.address offset 0
      ) job
      cross join lateral (
        select * from mirror.credit_accounts where address = job.credit_account offset 0
      ) account`,
    values: [addresses],
  });
  const found = new Map(rows.map(({ address, ...row }) => [address, row]));
  return addresses.map((address) => found.get(address));
}

export interface JobFilter {
  wallet: string;
  status?: JobStatus | undefined;
  modelId?: string | undefined;
}

/** A place in the wallet's list: jobs are ordered by the ledger's lock time, then by id. */
export interface JobCursor {
  locked_at: bigint;
  job_id: string;
}

/** Before and behind every job. */
const START: JobCursor = { locked_at: -1n, job_id: '' };
const END: JobCursor = { locked_at: 2n ** 63n - 1n, job_id: '' };

/** What the index for this filter begins with, and its value. */
function indexKey({ status, modelId }: JobFilter): Record<string, string> {
  if (status !== undefined && modelId !== undefined) {
    return { "(status || ' ' || model_id)": `${status} ${modelId}` };
  }
  if (status !== undefined) return { status };
  if (modelId !== undefined) return { model_id: modelId };
  return {};
}

/**
 * The first jobs between two places, in the order of the ledger or against it.
 *
 * A page is a range of an index. Its ends are subselects, whose values the planner does not see. If it
 * saw them, it would estimate that a wallet outside its statistics has a few jobs. Then it would read
 * and sort all that there are, or filter them.
 */
export async function selectJobRange(
  database: Database,
  filter: JobFilter,
  range: {
    after?: JobCursor | undefined;
    before?: JobCursor | undefined;
    order: 'asc' | 'desc';
    rows: number;
  },
): Promise<JobRow[]> {
  const { after = START, before = END, order, rows: limit } = range;
  // The database cannot be asked for such an id: no text of it holds NUL.
  if (filter.modelId?.includes('\0')) return [];
  const beginning = { ...indexKey(filter), wallet: filter.wallet };
  const key = [...Object.keys(beginning), 'locked_at', 'job_id'];
  const endOf = ({ locked_at, job_id }: JobCursor) => [
    ...Object.values(beginning),
    locked_at,
    job_id,
  ];
  const types = [...Object.keys(beginning).map(() => 'text'), 'bigint', 'text'];
  const end = (from: number) => types.map((type, place) => `$${from + place}::${type}`);
  const { rows } = await database.query<JobRow>({
    text: `
      select ${jobColumns} from mirror.jobs
      where (${key}) > (select ${end(1)}) and (${key}) < (select ${end(1 + key.length)})
      order by ${key.map((column) => `${column} ${order}`)}
      limit $${1 + 2 * key.length}`,
    values: [...endOf(after), ...endOf(before), limit],
  });
  return rows;
}

/** How long the stages of one job took, in whole milliseconds. */
export interface JobTiming {
  /** The job's address. */
  job: string;
  wallet: string;
  modelId: string;
  lockMs: number | undefined;
  firstTokenMs: number | undefined;
  workerMs: number | undefined;
  settlementMs: number | undefined;
}

const TIMING_FIELDS = [
  'job',
  'wallet',
  'modelId',
  'lockMs',
  'firstTokenMs',
  'workerMs',
  'settlementMs',
] as const;

/** Keeps timings for 30 days. */
export async function insertTimings(
  database: Database,
  timings: readonly JobTiming[],
): Promise<void> {
  await database.query({
    name: 'insert_job_timings',
    text: `
      insert into service.job_timings
        (job, wallet, model_id, lock_ms, first_token_ms, worker_ms, settlement_ms)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[],
        $7::int[])
      on conflict (job) do nothing`,
    values: columnsOf(timings, ...TIMING_FIELDS),
  });
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
