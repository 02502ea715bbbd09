import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { creditsNumber, isoTime, sha256Text, usdcValue } from '../../common/format.ts';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import type { JobRow } from '../sql/jobs.ts';
import type { ModelRow } from '../sql/workers.ts';
import { SUPPORTED_PARAMETERS } from './chatCompletion.ts';
import type { JobObject } from './job.ts';
import type { ModelObject } from './model.ts';

function isoTimeOrNull(unixSeconds: bigint | null): string | null {
  return unixSeconds === null ? null : isoTime(unixSeconds);
}

export function modelView(
  model: ModelRow,
  observed: { activeWorkers: number; medianLatencyMs: number; card: ModelCard | undefined },
): ModelObject {
  return {
    id: model.id,
    object: 'model',
    created: Number(model.created_at),
    owned_by: model.originator,
    svc: {
      tier: model.tier,
      credits_per_request: model.credits_per_request,
      credits_per_1k_tokens: model.credits_per_1k_tokens,
      active_workers: observed.activeWorkers,
      median_latency_ms: observed.medianLatencyMs,
      parameters: model.label,
      context_window: model.context_window_tokens,
      long_completion_threshold: model.long_completion_threshold_tokens,
      supported_parameters: [...SUPPORTED_PARAMETERS],
      retires_at: isoTimeOrNull(model.retires_at),
      card_hash: model.card_hash && sha256Text(model.card_hash),
      card: observed.card ?? null,
    },
  };
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
export function usageView(job: JobRow): JobObject['usage'] {
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
