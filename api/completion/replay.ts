import type { Response } from 'express';
import type { AnswerCopy } from '../idempotency/answerCopy.ts';
import { createDelivery } from './delivery.ts';

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
