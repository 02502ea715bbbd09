import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import { proofMessage, verifySignature } from '../../programs/client/proof.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerTask } from '../routing/workerClient.ts';
import type { WorkerProof } from '../routing/workerEvents.ts';

/** What is wrong with a proof, given the text we accepted; undefined when it holds. */
export function findFault(
  proof: WorkerProof,
  text: string,
  options: { slot: Slot; task: WorkerTask; programId: PublicKey },
): 'output_mismatch' | 'proof_invalid' | undefined {
  const { slot, task, programId } = options;
  const delivered = hash('sha256', text, 'buffer');
  if (!delivered.equals(proof.outputHash)) return 'output_mismatch';
  const isSigned = verifySignature({
    publicKey: publicKeyOf(slot.worker.proof_key),
    signature: proof.signature,
    message: proofMessage({
      programId,
      job: task.jobAddress,
      worker: publicKeyOf(slot.worker.address),
      attempt: task.attempt,
      outputHash: proof.outputHash,
      promptTokens: proof.promptTokens,
      completionTokens: proof.completionTokens,
    }),
  });
  if (!isSigned) return 'proof_invalid';
  return undefined;
}
