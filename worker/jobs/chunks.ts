import type { FinishReason } from '../engine/engine.ts';
import type { JobRequest } from '../protocol/contracts.ts';

interface Delta {
  role?: 'assistant';
  content?: string;
  reasoning_content?: string;
}

/** Makes the `chat.completion.chunk` objects of one job. */
export function createChunks(
  request: Pick<JobRequest, 'job_id'> & { chat: Pick<JobRequest['chat'], 'model'> },
) {
  const created = Math.floor(Date.now() / 1_000);
  return (delta: Delta, finishReason: FinishReason | null = null) => ({
    id: `chatcmpl-${request.job_id}`,
    object: 'chat.completion.chunk',
    created,
    model: request.chat.model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}
