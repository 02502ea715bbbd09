import type { AnswerCopy } from '../../api/jobs/replay.ts';

/** An answer as it is kept for repeats. */
export const KEPT_COPY: AnswerCopy = {
  text: 'a text for its wallet alone',
  finishReason: 'stop',
  usage: { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 },
  modelId: 'model',
  created: 1_800_000_000,
  escrowTx: 'escrow',
  worker: { address: 'worker', engine: null },
  outputHash: 'sha256:00',
  deliveryReceipt: 'signer.signature',
};
