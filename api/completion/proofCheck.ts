import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import { proofMessage, verifySignature } from '../../programs/client/proof.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerTask } from '../routing/workerClient.ts';
import type { WorkerProof } from '../routing/workerEvents.ts';

/** Whether the proof is one of the text that we accepted. */
export function isOutput(text: string, proof: WorkerProof): boolean {
  return hash('sha256', text, 'buffer').equals(proof.outputHash);
}

/** Whether the worker of the slot has signed the proof, for this attempt at this job. */
export function isSigned(
  proof: WorkerProof,
  { slot, task, programId }: { slot: Slot; task: WorkerTask; programId: PublicKey },
): boolean {
  const { signature, ...proven } = proof;
  return verifySignature({
    publicKey: publicKeyOf(slot.worker.proof_key),
    signature,
    message: proofMessage({
      ...{ programId, job: task.jobAddress, worker: publicKeyOf(slot.worker.address) },
      ...{ attempt: task.attempt, ...proven },
    }),
  });
}
