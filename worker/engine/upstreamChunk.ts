import { z } from 'zod';
import { WorkerError } from '../errors.ts';
import type { FinishReason, Usage } from './engine.ts';
import { asUpstreamError } from './upstreamFailures.ts';

const count = z.number().int().nonnegative();

/** The parts of a chunk that matter here; upstreams differ in everything else. */
const upstreamChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: z.object({ content: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  // Counts that are none are counted here, like those that are missing.
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(undefined),
  error: z.unknown().optional(),
  object: z.unknown().optional(),
});

/** Such an event or object is an error whatever it holds. */
const ERROR_NAME = 'error';

/**
 * @param event the event's own name, if it has one
 * @throws WorkerError for anything that is no chunk; its text is not quoted
 */
export function parseUpstreamChunk(
  data: string,
  event?: string,
): {
  text: string;
  finishReason: FinishReason | undefined;
  usage: Usage | undefined;
} {
  const parsed = upstreamChunk.safeParse(parseJson(data));
  const isError = event === ERROR_NAME || parsed.data?.object === ERROR_NAME;
  if (isError || parsed.data?.error) throw asUpstreamError(data);
  if (!parsed.success) {
    throw new WorkerError('upstream_failed', 'The upstream sent what is no chunk');
  }
  const { choices, usage } = parsed.data;
  // One answer was asked for; whatever comes beside it is none of its text.
  const choice = choices?.find(({ index }) => !index);
  return {
    text: choice?.delta?.content ?? '',
    finishReason: choice?.finish_reason ? asFinishReason(choice.finish_reason) : undefined,
    usage: usage
      ? { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens }
      : undefined,
  };
}

/** Reasons that only some upstreams know ("eos", "end_turn") all mean that the model was done. */
function asFinishReason(reason: string): FinishReason {
  return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // The engine's own message would quote the answer.
    return undefined;
  }
}
