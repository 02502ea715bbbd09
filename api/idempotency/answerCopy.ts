import { type Sealing, SealingError } from '../../runtime/sealing.ts';
import type { FinishReason, Usage } from '../completion/delivery.ts';

/** All that a repeated request needs to be answered like the first. */
export interface AnswerCopy {
  text: string;
  finishReason: FinishReason;
  usage: Usage;
  modelId: string;
  created: number;
  escrowTx: string;
  worker: { address: string; engine: string | null };
  outputHash: string;
  deliveryReceipt: string;
}

export function sealCopy(copy: AnswerCopy, sealing: Sealing): Buffer {
  return sealing.seal(JSON.stringify(copy));
}

/** @returns undefined when the copy was sealed under another key: the API key was regenerated */
export function openCopy(sealed: Uint8Array, sealing: Sealing): AnswerCopy | undefined {
  try {
    return JSON.parse(sealing.open(sealed));
  } catch (error) {
    if (error instanceof SealingError) return undefined;
    throw error;
  }
}
