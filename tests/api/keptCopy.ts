import type { AnswerCopy } from '../../api/jobs/claim.ts';
import type { Usage } from '../../api/response/delivery.ts';

/** The usage of an answer that costs eight credits. */
export const USAGE: Usage = {
  prompt_tokens: 3,
  completion_tokens: 7,
  total_tokens: 10,
  cost: 0.08,
  completion_tokens_details: { reasoning_tokens: 0 },
};

/** An answer as it is kept for repeats. */
export const KEPT_COPY: AnswerCopy = {
  text: 'a text for its wallet alone',
  reasoning: '',
  toolCalls: [],
  finishReason: 'stop',
  isTruncated: false,
  completedAt: 1_800_000_002,
  usage: USAGE,
  creditsCharged: 8,
  modelId: 'model',
  created: 1_800_000_000,
  escrowTx: 'escrow',
  requestSalt: 'ab'.repeat(32),
  engine: null,
  proof: {
    worker: 'worker',
    attempt: 1,
    outputHash: 'sha256:00',
    requestCommitment: 'aa'.repeat(32),
    answerDetails: 'bb'.repeat(32),
    deliveryReceipt: 'signer.signature',
  },
};
