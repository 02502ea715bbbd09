import { z } from 'zod';
import { WorkerError } from '../errors.ts';
import type { FinishReason, Usage } from './engine.ts';

const count = z.number().int().nonnegative();

/** The parts of a chunk that matter here; upstreams differ in everything else. */
const upstreamChunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
  error: z.unknown().optional(),
});

/** @throws WorkerError `upstream_failed` for anything that is no chunk; its text is not quoted */
export function parseUpstreamChunk(data: string): {
  text: string;
  finishReason: FinishReason | undefined;
  usage: Usage | undefined;
} {
  const parsed = upstreamChunk.safeParse(parseJson(data));
  if (!parsed.success || parsed.data.error) {
    throw new WorkerError('upstream_failed', 'The upstream sent an error in place of a chunk');
  }
  const { choices, usage } = parsed.data;
  const choice = choices?.[0];
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
