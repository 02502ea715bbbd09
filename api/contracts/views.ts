import type { JobRow } from '../statements/jobs.ts';
import type { ModelRow } from '../statements/models.ts';

/** Credits as a JSON number. Balances are bounded far below 2^53, and a breach must not pass. */
export function creditsNumber(credits: bigint): number {
  const number = Number(credits);
  if (!Number.isSafeInteger(number)) throw new RangeError('credits exceed what JSON can carry');
  return number;
}

/** One credit is 0.01 stablecoin unit: hundredths, so the division is exact to the cent. */
export function usdcValue(credits: bigint): number {
  return creditsNumber(credits) / 100;
}

/** A ledger time, which has whole seconds, as ISO 8601 UTC. */
export function isoTime(unixSeconds: bigint): string {
  return new Date(Number(unixSeconds) * 1_000).toISOString();
}

function isoTimeOrNull(unixSeconds: bigint | null): string | null {
  return unixSeconds === null ? null : isoTime(unixSeconds);
}

export function sha256Text(hex: string): string {
  return `sha256:${hex}`;
}

/** The specification's Model object. */
export function modelView(
  model: ModelRow,
  observed: { activeWorkers: number; medianLatencyMs: number },
) {
  return {
    id: model.id,
    object: 'model' as const,
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
      retires_at: isoTimeOrNull(model.retires_at),
    },
  };
}

/** The specification's Job object; what is not known yet is null. */
export function jobView(job: JobRow) {
  return {
    id: job.job_id,
    object: 'job' as const,
    status: job.status,
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

export type JobView = ReturnType<typeof jobView>;

function usageView(job: JobRow) {
  if (job.prompt_tokens === null || job.completion_tokens === null) return null;
  // What was charged: the lower of the worker's proven count and ours, once we have counted.
  const prompt_tokens = Number(job.prompt_tokens);
  const completion_tokens = Math.min(
    Number(job.completion_tokens),
    Number(job.counted_tokens ?? job.completion_tokens),
  );
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

const disputeStatuses: Record<string, string> = {
  rejected: 'rejected',
  upheld_gateway: 'upheld',
  upheld_worker: 'upheld',
  expired: 'expired',
};

function disputeView(job: JobRow) {
  if (job.client_hash === null) return null;
  return {
    status: job.outcome === null ? 'open' : disputeStatuses[job.outcome],
    your_hash: sha256Text(job.client_hash),
    dispute_tx: job.dispute_tx,
    opened_at: isoTimeOrNull(job.disputed_at),
    arbitration_ends_at: isoTimeOrNull(job.arbitration_ends_at),
    resolution_tx: job.resolution_tx,
  };
}
