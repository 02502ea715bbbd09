import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import type { FinishReason } from '../../common/workerProtocol.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import { jobAcknowledge } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { type ProvenOutput, proofMessage, verifyHashed } from '../../programs/client/proof.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerProof } from '../workers/events.ts';
import { actor, ignoreUnavailable, type LedgerContext } from './context.ts';
import type { JobResult, LockedJob } from './job.ts';
import { readRecorded } from './jobLookup.ts';
import { failOnLedger } from './refundOnLedger.ts';

/** A worker's whole answer. Its text has the proof's hash; the signature is not checked yet. */
export interface WholeAnswer {
  reservation: Reservation;
  attempt: number;
  /** What the worker says of its engine. */
  engine: string | null;
  text: string;
  /** What the model thought before; proven and not charged. */
  reasoning: string;
  /** What it asks its client to call. */
  toolCalls: readonly ToolCall[];
  finishReason: FinishReason;
  /** Whether it was cut off because the job's time was nearly over. */
  isTruncated: boolean;
  /** Both halves of the statement that the worker has to have signed. */
  requestCommitment: Uint8Array;
  answerDetails: Uint8Array;
  /** What the worker sent, and that statement. */
  proof: WorkerProof & ProvenOutput;
}

declare const signatureChecked: unique symbol;

/** An answer whose proof its worker signed. Only `checkProof` makes one, and only one can settle. */
export type ProvenAnswer = WholeAnswer & { readonly [signatureChecked]: true };

/** Whether the proof is one of this text. */
export function isProofOf(text: string, proof: WorkerProof): boolean {
  return hash('sha256', text, 'buffer').equals(proof.outputHash);
}

/** @returns the answer as a proven one; undefined when its worker did not sign its proof */
export function checkProof(
  answer: WholeAnswer,
  { programId, job }: { programId: PublicKey; job: PublicKey },
): ProvenAnswer | undefined {
  const { reservation, attempt, proof } = answer;
  const { signature, ...proven } = proof;
  const isSigned = verifyHashed({
    publicKey: publicKeyOf(reservation.worker.proof_key),
    signature,
    message: proofMessage({
      programId,
      job,
      worker: publicKeyOf(reservation.worker.address),
      attempt,
      ...proven,
    }),
  });
  return isSigned ? (answer as ProvenAnswer) : undefined;
}

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
 * for by the counts that it names, and its client was shown others. The statement is on no account:
 * while the ledger shows no event, only the rest is compared.
 */
export async function isContradicted(
  context: LedgerContext,
  found: Job,
  { job, answer }: Delivered,
): Promise<boolean> {
  if (!isOfAttempt(found, answer)) return false;
  const { outputHash, promptTokens, completionTokens, statement } = answer.proof;
  const isSame =
    isEqual(found.outputHash, outputHash) &&
    found.promptTokens === promptTokens &&
    found.completionTokens === completionTokens;
  if (!isSame) return true;
  const reading = readRecorded(context, { job: job.address, attempt: found.attempt });
  const recorded = await reading.catch(ignoreUnavailable);
  return recorded !== undefined && !isEqual(recorded.statement, statement);
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
    job_id: job.id,
    worker: reservation.worker.address,
    attempt,
    delivered_proof: {
      output_hash: hex(proof.outputHash),
      prompt_tokens: proof.promptTokens,
      completion_tokens: proof.completionTokens,
      statement: hex(proof.statement),
      signature: hex(proof.signature),
    },
  });
  const delivered = { hash: proof.outputHash, countedTokens };
  // The program fails no job whose proven text was delivered. A later attempt puts the proof aside.
  const acknowledgement = isEqual(found.outputHash, proof.outputHash)
    ? jobAcknowledge({
        ...actor(context),
        job: job.address,
        worker: found.worker,
        attempt: attempt + 1,
      })
    : undefined;
  return failOnLedger(context, job, 'output_mismatch', { delivered, acknowledgement });
}

const isEqual = (some: Uint8Array, other: Uint8Array): boolean => Buffer.compare(some, other) === 0;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
