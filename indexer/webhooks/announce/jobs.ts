import { creditsNumber, usdcValue } from '../../../common/format.ts';
import type { EventData } from '../../../webhooks/events.ts';
import type { FailureReason } from '../../../programs/client/generated/vocabulary.ts';
import type { EventOf } from '../../fold/change.ts';
import { FatalError } from '../../source/errors.ts';
import type { Describe, Facts, JobFacts } from './occurrence.ts';

export const describeJobLocked: Describe<'JobLocked'> = ({ data, signature, slot }) => ({
  kind: 'job.submitted',
  wallet: data.wallet,
  data: {
    job_id: jobIdOf(data),
    model: data.modelId,
    tier: data.tier,
    credits_locked: creditsNumber(BigInt(data.lockedCredits)),
    escrow_tx: signature,
    escrow_pda: data.job,
    chain_slot: Number(slot),
    credits_remaining: creditsNumber(BigInt(data.availableCredits)),
  },
});

export const describeJobAcknowledged: Describe<'JobAcknowledged'> = (event, facts) => {
  const { data, signature, slot } = event;
  const job = jobOf(data, facts);
  return {
    kind: 'job.processing',
    wallet: job.wallet,
    data: {
      job_id: jobIdOf(data),
      model: job.model_id,
      worker_address: data.worker,
      tx: signature,
      chain_slot: Number(slot),
    },
  };
};

export const describeJobSettled: Describe<'JobSettled'> = ({ data, signature, slot }, facts) => {
  const { model_id, tier } = jobOf(data, facts);
  const charged = BigInt(data.chargedCredits);
  return {
    kind: 'job.completed',
    wallet: data.wallet,
    data: {
      job_id: jobIdOf(data),
      model: model_id,
      tier,
      credits_charged: creditsNumber(charged),
      usdc_value: usdcValue(charged),
      worker_address: data.worker,
      settlement_tx: signature,
      chain_slot: Number(slot),
      prompt_tokens: data.promptTokens,
      // What was charged, as in the job's usage.
      completion_tokens: Math.min(data.completionTokens, data.countedTokens),
      credits_remaining: creditsNumber(BigInt(data.availableCredits)),
    },
  };
};

export const describeJobFailed: Describe<'JobFailed'> = (event, facts) => ({
  kind: 'job.failed',
  wallet: event.data.wallet,
  data: refund(event, facts, { reason: event.data.reason as Exclude<FailureReason, 'none'> }),
});

export const describeJobRefunded: Describe<'JobRefunded'> = (event, facts) => ({
  kind: 'job.timeout',
  wallet: event.data.wallet,
  data: refund(event, facts, {}),
});

function refund<More extends object>(
  { data, signature, slot }: EventOf<'JobFailed'> | EventOf<'JobRefunded'>,
  facts: Facts,
  more: More,
): EventData['job.timeout'] & More {
  const { model_id, tier } = jobOf(data, facts);
  return {
    job_id: jobIdOf(data),
    model: model_id,
    tier,
    ...more,
    credits_refunded: creditsNumber(BigInt(data.returnedCredits)),
    refund_tx: signature,
    chain_slot: Number(slot),
    credits_remaining: creditsNumber(BigInt(data.availableCredits)),
  };
}

/** @throws FatalError for a job that was never locked, which folding rules out */
function jobOf({ job }: { job: string }, { jobs }: Facts): JobFacts {
  const found = jobs.get(job);
  if (!found) throw new FatalError(`The mirror does not know the job ${job}`);
  return found;
}

/** @param data.jobId as the journal keeps it: the UUID's bytes in hex */
export function jobIdOf({ jobId }: { jobId: string }): string {
  return `job_${jobId}`;
}
