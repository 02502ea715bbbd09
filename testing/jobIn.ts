import type { PublicKey } from '@solana/web3.js';
import type { JobStatus } from '../programs/client/index.ts';
import {
  ANSWER,
  acknowledge,
  composeLock,
  dispute,
  fail,
  type JobParties,
  type LockChoice,
  type Proven,
  prove,
  refund,
  settle,
} from './jobInstructions.ts';

/** One second past the deadline of a job locked now. */
const PAST_DEADLINE_SECONDS = 121n;

/** Locks a job and returns its address. */
export async function lockJob(parties: JobParties, choice: LockChoice = {}): Promise<PublicKey> {
  const { instruction, job } = await composeLock(parties, choice);
  await parties.chain.send([instruction], [choice.signer ?? parties.hotSigner]);
  return job;
}

/** Brings a fresh job to a status by the shortest way. */
export async function jobIn(
  parties: JobParties,
  status: JobStatus,
  choice: LockChoice & Proven = {},
): Promise<PublicKey> {
  const { chain, hotSigner, wallet } = parties;
  const job = await lockJob(parties, choice);
  if (status === 'pending') return job;
  if (status === 'failed') {
    await chain.send([fail(parties, job)], [hotSigner]);
    return job;
  }
  if (status === 'refunded') {
    await chain.setTime((await chain.now()) + PAST_DEADLINE_SECONDS);
    await chain.send([refund(parties, job)]);
    return job;
  }
  await chain.send([acknowledge(parties, job)], [hotSigner]);
  if (status === 'processing') return job;
  await chain.send(prove(parties, job, choice));
  if (status === 'settling') return job;
  const deliveredHash = choice.outputHash ?? ANSWER;
  await chain.send([settle(parties, job, { deliveredHash })], [hotSigner]);
  if (status === 'disputed') await chain.send([dispute(parties, job)], [wallet]);
  return job;
}
