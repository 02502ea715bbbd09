import { creditsNumber, isoTime, sha256Text } from '../../../common/format.ts';
import { jobIdOf } from './jobs.ts';
import type { Describe } from './occurrence.ts';
import { workerSlashed } from './workers.ts';

export const describeJobDisputed: Describe<'JobDisputed'> = ({ data, signature, slot }) => ({
  kind: 'job.disputed',
  wallet: data.wallet,
  data: {
    job_id: jobIdOf(data),
    your_hash: sha256Text(data.clientHash),
    worker_hash: sha256Text(data.outputHash),
    dispute_tx: signature,
    chain_slot: Number(slot),
    arbitration_ends_at: isoTime(BigInt(data.arbitrationEndsAt)),
  },
});

export const describeDisputeResolved: Describe<'DisputeResolved'> = (event) => {
  const { data, signature, slot } = event;
  const resolved = {
    kind: 'job.dispute_resolved',
    wallet: data.wallet,
    data: {
      job_id: jobIdOf(data),
      outcome: data.verdict === 'rejected' ? 'rejected' : 'upheld',
      credits_returned: creditsNumber(BigInt(data.repaidCredits)),
      resolution_tx: signature,
      chain_slot: Number(slot),
    },
  } as const;
  return data.slashedTokens === '0' ? resolved : [resolved, workerSlashed(event)];
};

export const describeDisputeExpired: Describe<'DisputeExpired'> = ({ data, signature, slot }) => ({
  kind: 'job.dispute_resolved',
  wallet: data.wallet,
  data: {
    job_id: jobIdOf(data),
    outcome: 'expired',
    credits_returned: 0,
    resolution_tx: signature,
    chain_slot: Number(slot),
  },
});
