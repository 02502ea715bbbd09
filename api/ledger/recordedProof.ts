import type { Job } from '../../programs/client/generated/types.ts';
import { jobAcknowledge } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { actor, ignoreUnavailable, type LedgerContext } from './context.ts';
import type { LockedJob } from './job.ts';
import { readRecorded } from './jobLookup.ts';
import type { ProvenAnswer } from './proof.ts';
import { failOnLedger } from './refundOnLedger.ts';
import type { JobResult } from './results.ts';

/** A job, and the answer that its client has got. */
interface Delivered {
  job: LockedJob;
  answer: ProvenAnswer;
  countedTokens: number;
}

/** Whether the Job has a proof by the worker that gave the answer, of the same attempt. */
export function isOfAttempt({ attempt, worker }: Job, answer: ProvenAnswer): boolean {
  return (
    attempt === answer.attempt && worker.equals(publicKeyOf(answer.reservation.worker.address))
  );
}

/**
 * Whether the worker has recorded another proof of this attempt than it delivered. It would be charged
 * for by the counts that it names, and its client was shown others. The commitment is on no account:
 * while the ledger shows no event, only the rest is compared.
 */
export async function isContradicted(
  context: LedgerContext,
  found: Job,
  { job, answer }: Delivered,
): Promise<boolean> {
  if (!isOfAttempt(found, answer)) return false;
  const { outputHash, promptTokens, completionTokens, requestCommitment } = answer.proof;
  const isSame =
    isEqual(found.outputHash, outputHash) &&
    found.promptTokens === promptTokens &&
    found.completionTokens === completionTokens;
  if (!isSame) return true;
  const reading = readRecorded(context, { job: job.address, attempt: found.attempt });
  const recorded = await reading.catch(ignoreUnavailable);
  return recorded !== undefined && !isEqual(recorded.requestCommitment, requestCommitment);
}

/** Fails a job whose worker contradicts itself. Its two proofs convict it. */
export async function failContradicted(
  context: LedgerContext,
  found: Job,
  { job, answer, countedTokens }: Delivered,
): Promise<JobResult> {
  const { attempt, proof, reservation } = answer;
  reservation.failed();
  // The recorded proof is on the ledger. The other is kept here alone.
  context.logger.warn({
    msg: 'A worker recorded another proof than it delivered: two of one attempt exist',
    ...{ job_id: job.id, worker: reservation.worker.address, attempt },
    delivered_proof: {
      output_hash: hex(proof.outputHash),
      prompt_tokens: proof.promptTokens,
      completion_tokens: proof.completionTokens,
      request_commitment: hex(proof.requestCommitment),
      signature: hex(proof.signature),
    },
  });
  const delivered = { hash: proof.outputHash, countedTokens };
  // The program fails no job whose proven text was delivered. A later attempt puts the proof aside.
  const acknowledgement = isEqual(found.outputHash, proof.outputHash)
    ? jobAcknowledge({
        ...actor(context),
        ...{ job: job.address, worker: found.worker, attempt: attempt + 1 },
      })
    : undefined;
  return failOnLedger(context, job, 'output_mismatch', { delivered, acknowledgement });
}

const isEqual = (some: Uint8Array, other: Uint8Array): boolean => Buffer.compare(some, other) === 0;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
