import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { type ProvenOutput, proofMessage, verifyHashed } from '../../programs/client/proof.ts';
import type { FinishReason } from '../response/delivery.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerProof } from '../workers/events.ts';

/** A worker's whole answer. Its text has the proof's hash; the signature is not checked yet. */
export interface WholeAnswer {
  reservation: Reservation;
  attempt: number;
  /** What the worker says of its engine. */
  engine: string | null;
  text: string;
  /** What the model thought before; neither proven nor charged. */
  reasoning: string;
  finishReason: FinishReason;
  /** Whether it was cut off because the job's time was nearly over. */
  isTruncated: boolean;
  /** What the worker sent, and what it has to have signed about its request. */
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
