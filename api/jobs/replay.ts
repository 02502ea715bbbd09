import type { Response } from 'express';
import { type Sealing, SealingError } from '../../common/sealing.ts';
import { createDelivery, type FinishReason, type Usage } from '../http/response/delivery.ts';

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

/** Gives the answer of an earlier request again, in the form that this one asks for. */
export function replayAnswer(options: {
  response: Response;
  jobId: string;
  copy: AnswerCopy;
  settlementTx: string | null;
  creditsRemaining: number | null;
  isStream: boolean;
  includeUsage: boolean;
  publicUrl: string;
}): void {
  const { response, jobId, copy, settlementTx, creditsRemaining } = options;
  response.set({
    'x-svc-job-id': jobId,
    'x-svc-tx-signature': copy.escrowTx,
    'x-svc-replayed': 'true',
  });
  const identity = { jobId, modelId: copy.modelId, created: copy.created };
  const delivery = createDelivery({ ...options, identity });
  delivery.begin(copy.worker);
  delivery.write(copy.text);
  delivery.finish(copy.finishReason, copy.usage);
  const { outputHash, deliveryReceipt } = copy;
  delivery.settled({ settlementTx, creditsRemaining, outputHash, deliveryReceipt });
}
