import { z } from 'zod';
import { FINISH_REASONS } from '../../common/workerProtocol.ts';
import { chatCompletionRequest } from './chatCompletion.ts';
import { type RouteDocs, route } from './route.ts';
import { toolCall, toolCallDelta } from './tools.ts';
import {
  credits,
  jobId,
  ledgerAddress,
  lockHeaders,
  sha256Hash,
  tokens,
  transactionSignature,
  unixSeconds,
  usage,
  usdc,
} from './values.ts';

const finishReason = z
  .enum(FINISH_REASONS)
  .meta({ withoutTools: { enum: FINISH_REASONS.filter((reason) => reason !== 'tool_calls') } })
  .describe(
    '`length`: the answer met its token limit, or the time limit of its job, where content came in ' +
      'its last 20 s; with empty content and without a charge where reasoning used the token limit ' +
      'up. `content_filter`: the model server held text back.',
  );

/** Of a preview: what the document has of it while that is off is nothing. */
const ofTools = { withoutTools: null };

const completionId = z
  .string()
  .regex(/^chatcmpl-job_[0-9a-f]{32}$/)
  .describe('`chatcmpl-` and the job id.');

const reasoningContent = z
  .string()
  .optional()
  .describe(
    'Our choice: what a reasoning model thought first; neither in the proven text nor in the charge.',
  );

const completionUsage = usage
  .extend({
    cost: usdc.describe('Our choice: what the answer costs, in stablecoin units.'),
    completion_tokens_details: z
      .object({ reasoning_tokens: tokens })
      .describe(
        'Our choice: the most tokens that the reasoning can have had. They are in no other count.',
      ),
  })
  .describe('`completion_tokens` is what is charged: those of the content, without any reasoning.');

const hexHash = z.string().regex(/^[0-9a-f]{64}$/);

/** With these fields and the ledger alone, anybody can check an answer. */
export const answerEvidence = z
  .object({
    job_id: jobId,
    worker: ledgerAddress.nullable().describe('Who proved the text; null for an empty answer.'),
    attempt: z.int().min(1).nullable().describe('Which of the job’s workers that was.'),
    credits_charged: credits.describe('What the settlement charges, and never more.'),
    usdc_value: usdc,
    output_hash: sha256Hash.nullable().describe('Of the whole text, as the worker signed it.'),
    request_salt: hexHash.describe(
      'With it, the request can be checked against the proof, and a short one be guessed. Pass it ' +
        'on only where the question may be read.',
    ),
    request_commitment: hexHash.nullable().describe('Binds the question, by `request_salt`.'),
    answer_details: hexHash
      .nullable()
      .describe(
        'Binds finish reason, cut, reasoning and calls. The worker signed the sha256 of both, joined.',
      ),
    delivery_receipt: z
      .string()
      .nullable()
      .describe('Our signature that this answer was delivered, for a dispute.'),
    escrow_tx: transactionSignature.describe('The lock.'),
    settlement_tx: transactionSignature
      .nullable()
      .describe('Null until it is known: a stream ends before its settlement.'),
    verify_url: z.string().meta({ format: 'uri' }).describe('Where a browser checks the job.'),
    format_kept: z
      .boolean()
      .nullable()
      .optional()
      .describe(
        'Only with `response_format`: whether the content is JSON of that form. Null of a cut answer, ' +
          'and where the check takes too long. It is charged either way.',
      ),
    truncated: z
      .literal('deadline')
      .optional()
      .describe('The answer was cut off because its job had 15 s left.'),
  })
  .describe('Our choice: what the answer cost, and what proves it.');

export type AnswerEvidence = z.infer<typeof answerEvidence>;

export const chatCompletion = z.object({
  id: completionId,
  object: z.literal('chat.completion'),
  created: unixSeconds,
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal('assistant'),
        content: z
          .string()
          .nullable()
          .meta({ withoutTools: { type: 'string', anyOf: null, description: null } })
          .describe('Null where the answer is calls alone.'),
        reasoning_content: reasoningContent,
        tool_calls: z.array(toolCall).optional().meta(ofTools),
      }),
      finish_reason: finishReason,
    }),
  ),
  usage: completionUsage,
  svc: answerEvidence,
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
          .object({
            role: z.literal('assistant').optional(),
            content: z.string().optional(),
            reasoning_content: reasoningContent,
            tool_calls: z
              .array(toolCallDelta)
              .optional()
              .meta(ofTools)
              .describe('`id`, `type` and `name` come with the first delta of a call.'),
          })
          .describe('`role` comes with the first chunk; empty in the last.'),
        finish_reason: finishReason.nullable().describe('Null until the last chunk.'),
      }),
    )
    .describe('Empty in the chunk that `stream_options.include_usage` asks for.'),
  usage: completionUsage.optional().describe('Only with `stream_options.include_usage`.'),
  svc: answerEvidence.optional().describe('Our choice: in the chunk with the finish reason.'),
});

export type ChatCompletionChunk = z.infer<typeof chatCompletionChunk>;

/** What a job's request and answer have in each format. */
export const ofEachFormat = {
  requestHeaders: {
    'Idempotency-Key':
      'Our choice: 1 to 255 visible characters. The same key with the same body within 24 hours ' +
      'is never charged twice: for ten minutes the same answer comes again.',
    'x-svc-max-credits':
      'Our choice: the most credits that the request may lock, as `max_credits` in the body. ' +
      'Above it the answer is 422 `price_above_limit`, and nothing is locked.',
  },
  headers: [
    ...lockHeaders,
    'x-svc-settlement-tx',
    'x-svc-worker',
    'x-svc-credits-remaining',
    'x-svc-output-hash',
    'x-svc-delivery-receipt',
    'x-svc-engine',
    'x-svc-truncated',
    'x-svc-replayed',
    'server-timing',
  ],
  errors: [
    'model_not_found',
    'context_length_exceeded',
    'insufficient_credits',
    'spending_limit_exceeded',
    'spender_not_set',
    'idempotency_key_in_use',
    'idempotency_key_reused',
    'idempotency_key_mismatch',
    'price_above_limit',
    'worker_failed',
    'no_workers_available',
    'job_timeout',
  ],
} as const satisfies Partial<RouteDocs>;

export const completionRoutes = {
  createChatCompletion: route('POST', '/chat/completions', ['key', 'session'], {
    needsSpender: true,
    summary: "a chat completion, under the wallet's live key",
    body: chatCompletionRequest,
    answer: chatCompletion,
    form: 'chat completion',
    docs: {
      tag: 'Completions',
      summary: 'Ask a model',
      description: [
        'Each request becomes a job: its credits are locked on the ledger, a worker answers, and on ' +
          'settlement the worker is paid and what was not used comes back.',
        'With `stream: true` the answer is a sequence of events `data: <chunk>`, and `data: [DONE]` ' +
          'ends it.',
        'Our choice: nothing is sent before the first content or reasoning, so that failures until then have ' +
          'their real status. Afterwards a failure is one event with an error body, and the stream ' +
          'ends without `[DONE]`. `[DONE]` says that the signed proof of the worker was checked ' +
          'against the delivered text. The stream stays open up to 3 s more for the settlement, ' +
          'which arrives in trailers; clients that cannot read trailers use GET /v1/jobs/{job_id}. ' +
          'Comments keep a silent stream alive.',
        'Our choice: `svc` says what the answer cost, what proves it, and where a browser checks it: ' +
          'in the body of a plain answer, and in the chunk with the finish reason of a stream.',
        'Our choice: fields of the format that are not listed here are ignored.',
      ].join('\n\n'),
      ...ofEachFormat,
    },
  }),
};
