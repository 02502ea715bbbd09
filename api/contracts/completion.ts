import { z } from 'zod';
import { unixSeconds, usage } from './values.ts';

export const FINISH_REASONS = ['stop', 'length'] as const;

const finishReason = z
  .enum(FINISH_REASONS)
  .describe('`length`: the answer met its token limit, or the time limit of its job.');

const completionId = z
  .string()
  .regex(/^chatcmpl-job_[0-9a-f]{32}$/)
  .describe('`chatcmpl-` and the job id.');

/** A whole answer. */
export const chatCompletion = z.object({
  id: completionId,
  object: z.literal('chat.completion'),
  created: unixSeconds,
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({ role: z.literal('assistant'), content: z.string() }),
      finish_reason: finishReason,
    }),
  ),
  usage: usage.describe('`completion_tokens` is what is charged.'),
});

export type ChatCompletion = z.infer<typeof chatCompletion>;

/** The data of one event of a streamed answer. */
export const chatCompletionChunk = z.object({
  id: completionId,
  object: z.literal('chat.completion.chunk'),
  created: unixSeconds,
  model: z.string(),
  choices: z
    .array(
      z.object({
        index: z.int(),
        delta: z
          .object({ role: z.literal('assistant').optional(), content: z.string().optional() })
          .describe('`role` comes with the first chunk; empty in the last.'),
        finish_reason: finishReason.nullable().describe('Null until the last chunk.'),
      }),
    )
    .describe('Empty in the chunk that `stream_options.include_usage` asks for.'),
  usage: usage.optional().describe('Only with `stream_options.include_usage`.'),
});

export type ChatCompletionChunk = z.infer<typeof chatCompletionChunk>;
