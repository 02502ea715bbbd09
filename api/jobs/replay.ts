import type { Response } from 'express';
import { createDelivery, type FinishReason, type Usage } from '../response/delivery.ts';

/** All that a repeated request needs to be answered like the first. */
export interface AnswerCopy {
  text: string;
  /** Missing in copies of earlier releases. */
  reasoning?: string;
  finishReason: FinishReason;
  /** Missing in copies of earlier releases. */
  isTruncated?: boolean;
  usage: Usage;
  modelId: string;
  created: number;
  escrowTx: string;
  worker: { address: string; engine: string | null };
  outputHash: string;
  deliveryReceipt: string;
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
  /** Called once the answer was handed to its connection to the last byte. */
  onWhole: () => void;
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
  if (copy.reasoning) delivery.write({ type: 'reasoning', text: copy.reasoning });
  delivery.write({ type: 'content', text: copy.text });
  const { finishReason, isTruncated = false, usage } = copy;
  delivery.finish({ finishReason, isTruncated, usage });
  const { outputHash, deliveryReceipt } = copy;
  delivery.settled({ settlementTx, creditsRemaining, outputHash, deliveryReceipt });
}
