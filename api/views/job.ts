import {
  creditsNumber,
  isoTime,
  isoTimeOrNull,
  sha256Text,
  usdcValue,
} from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import { type Rate, rateOf } from '../../programs/client/pricing.ts';
import type { ConsoleJob, JobObject } from '../contracts/job.ts';
import { type JobRow, type JobTimings, selectTimings } from '../sql/jobs.ts';

/** Jobs as the pages show them, in the order of the rows. One statement reads all timings. */
export async function viewJobs(database: Database, rows: readonly JobRow[]): Promise<ConsoleJob[]> {
  if (rows.length === 0) return [];
  const addresses = rows.map(({ address }) => address);
  const timings = await selectTimings(database, addresses);
  return rows.map((row) => consoleJobView(row, timings.get(row.address)));
}

export async function viewJob(database: Database, row: JobRow): Promise<ConsoleJob> {
  const [view] = await viewJobs(database, [row]);
  return view as ConsoleJob;
}

function consoleJobView(row: JobRow, timings: JobTimings | undefined): ConsoleJob {
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
    acknowledged_at: isoTimeOrNull(row.acknowledged_at),
    proven_at: isoTimeOrNull(row.proven_at),
    settled_at: isoTimeOrNull(row.settled_at),
    timeout_at: isoTime(row.locked_at + BigInt(row.job_timeout_seconds)),
    is_closed: row.closed,
    disputed_by_wallet: row.disputed_by_wallet,
    dispute_resolved_at: isoTimeOrNull(row.resolved_at),
    controller: row.controller,
    timings: timings ?? null,
  };
}

/** Which of its two prices a job was charged; null without a charge. */
export function chargedRate(row: JobRow): Rate | null {
  const usage = usageView(row);
  if (usage === null || !(row.status === 'settled' || row.status === 'disputed')) return null;
  const longCompletionThresholdTokens = Number(row.long_completion_threshold_tokens);
  return rateOf({ longCompletionThresholdTokens }, usage.completion_tokens);
}

export function jobView(job: JobRow): JobObject {
  return {
    id: job.job_id,
    object: 'job',
    status: job.status,
    failure_reason: job.failure_reason,
    model: job.model_id,
    tier: job.tier,
    credits_charged: creditsNumber(job.charged_credits),
    usdc_value: usdcValue(job.charged_credits),
    worker_address: job.worker,
    created_at: isoTime(job.locked_at),
    completed_at: isoTimeOrNull(job.ended_at),
    on_chain: {
      escrow_tx: job.escrow_tx,
      settlement_tx: job.settlement_tx,
      refund_tx: job.refund_tx,
      escrow_pda: job.address,
      slot: Number(job.settlement_slot ?? job.escrow_slot),
      proof_hash: job.output_hash === null ? null : sha256Text(job.output_hash),
    },
    usage: usageView(job),
    dispute: disputeView(job),
    dispute_window_ends_at:
      job.settled_at === null ? null : isoTime(job.settled_at + BigInt(job.dispute_window_seconds)),
  };
}

/** The tokens of a job as they were charged; null until its worker has proven them. */
function usageView(job: JobRow): JobObject['usage'] {
  if (job.prompt_tokens === null || job.completion_tokens === null) return null;
  // What was charged: the lower of the worker's proven count and ours, once we have counted.
  const prompt_tokens = Number(job.prompt_tokens);
  const completion_tokens = Math.min(
    Number(job.completion_tokens),
    Number(job.counted_tokens ?? job.completion_tokens),
  );
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

const disputeStatuses = {
  none: 'open',
  rejected: 'rejected',
  upheld_gateway: 'upheld',
  upheld_worker: 'upheld',
  expired: 'expired',
} as const satisfies Record<DisputeOutcome, string>;

function disputeView(job: JobRow): JobObject['dispute'] {
  if (job.client_hash === null) return null;
  return {
    status: disputeStatuses[job.outcome ?? 'none'],
    your_hash: sha256Text(job.client_hash),
    dispute_tx: job.dispute_tx,
    opened_at: isoTimeOrNull(job.disputed_at),
    arbitration_ends_at: isoTimeOrNull(job.arbitration_ends_at),
    resolution_tx: job.resolution_tx,
  };
}
