import type { DisputeOutcome, JobStatus, Tier } from '../../programs/client/vocabulary.ts';
import type { Database } from '../../runtime/postgres.ts';

/** A job as the mirror holds it; times are ledger seconds. */
export interface JobRow {
  address: string;
  job_id: string;
  status: JobStatus;
  outcome: DisputeOutcome | null;
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
}

const columns = `
  address, job_id, status, outcome, model_id, tier, worker, charged_credits, output_hash,
  prompt_tokens, completion_tokens, counted_tokens, locked_at, ended_at, settled_at,
  dispute_window_seconds, escrow_tx, escrow_slot, settlement_tx, settlement_slot, refund_tx,
  client_hash, dispute_tx, disputed_at, arbitration_ends_at, resolution_tx`;

/** The wallet's job of this id; ids are unique per wallet only, so the wallet is part of the key. */
export async function selectJob(
  database: Database,
  key: { wallet: string; jobId: string },
): Promise<JobRow | undefined> {
  const { rows } = await database.query<JobRow>({
    name: 'select_job',
    text: `select ${columns} from mirror.jobs where wallet = $1 and job_id = $2`,
    values: [key.wallet, key.jobId],
  });
  return rows[0];
}

/** What the mirror knows of a job's end and dispute, for those who wait for them. */
export interface JobProgress {
  status: JobStatus;
  settlement_tx: string | null;
  refund_tx: string | null;
  dispute_tx: string | null;
  available_credits: bigint;
}

export async function selectJobProgress(
  database: Database,
  address: string,
): Promise<JobProgress | undefined> {
  const { rows } = await database.query<JobProgress>({
    name: 'select_job_progress',
    text: `
      select job.status, job.settlement_tx, job.refund_tx, job.dispute_tx,
        account.available_credits
      from mirror.jobs job
      join mirror.credit_accounts account on account.address = job.credit_account
      where job.address = $1`,
    values: [address],
  });
  return rows[0];
}

export interface JobFilter {
  wallet: string;
  /** How many rows; the caller asks for one more than it shows, to learn whether there are more. */
  rows: number;
  status?: string | undefined;
  modelId?: string | undefined;
}

/** A place in the wallet's list: jobs are ordered by the ledger's lock time, then by id. */
export interface JobCursor {
  locked_at: bigint;
  job_id: string;
}

/** Newest first; with a cursor, the ones older than it. */
export async function selectJobsBefore(
  database: Database,
  filter: JobFilter,
  cursor?: JobCursor,
): Promise<JobRow[]> {
  const { rows } = await database.query<JobRow>({
    name: 'select_jobs_before',
    text: `
      select ${columns} from mirror.jobs
      where wallet = $1
        and ($2::text is null or status = $2)
        and ($3::text is null or model_id = $3)
        and ($4::bigint is null or (locked_at, job_id) < ($4, $5))
      order by locked_at desc, job_id desc
      limit $6`,
    values: [
      filter.wallet,
      filter.status,
      filter.modelId,
      cursor?.locked_at,
      cursor?.job_id,
      filter.rows,
    ],
  });
  return rows;
}

/**
 * The next ones newer than `after`, oldest first, so that following pages miss none; with `before`
 * too, only those older than it.
 */
export async function selectJobsAfter(
  database: Database,
  filter: JobFilter,
  after: JobCursor,
  before?: JobCursor,
): Promise<JobRow[]> {
  const { rows } = await database.query<JobRow>({
    name: 'select_jobs_after',
    text: `
      select ${columns} from mirror.jobs
      where wallet = $1
        and ($2::text is null or status = $2)
        and ($3::text is null or model_id = $3)
        and (locked_at, job_id) > ($4, $5)
        and ($6::bigint is null or (locked_at, job_id) < ($6, $7))
      order by locked_at, job_id
      limit $8`,
    values: [
      filter.wallet,
      filter.status,
      filter.modelId,
      after.locked_at,
      after.job_id,
      before?.locked_at,
      before?.job_id,
      filter.rows,
    ],
  });
  return rows;
}
