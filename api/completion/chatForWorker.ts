import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';

/** The fields of the request that matter to an engine; limits and streaming are the protocol's. */
export function chatForWorker(request: ChatCompletionRequest): Record<string, unknown> {
  const { model, messages, temperature, top_p, stop, seed } = request;
  const { frequency_penalty, presence_penalty } = request;
  return {
    model,
    messages,
    temperature,
    top_p,
    stop,
    seed,
    frequency_penalty,
    presence_penalty,
  };
}
