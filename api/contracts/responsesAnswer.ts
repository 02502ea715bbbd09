import { z } from 'zod';
import { answerEvidence } from './completionAnswer.ts';
import { jobId, tokens, unixSeconds, usdc } from './values.ts';

const status = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .describe('`incomplete`: the last item of an answer that was cut.');
const nothing = z.array(z.never()).max(0).describe('Always empty.');

const responseItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status,
    role: z.literal('assistant'),
    content: z.array(
      z.object({
        type: z.literal('output_text'),
        text: z.string(),
        annotations: nothing,
        logprobs: nothing,
      }),
    ),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    status,
    summary: nothing,
    content: z.array(z.object({ type: z.literal('reasoning_text'), text: z.string() })),
  }),
  z
    .object({
      type: z.literal('function_call'),
      id: z.string(),
      status,
      call_id: z.string(),
      name: z.string(),
      arguments: z.string().describe('JSON, as the model wrote it: it may be none.'),
    })
    .meta({ withoutTools: null }),
]);

export type ResponseItem = z.infer<typeof responseItem>;

const responseUsage = z.object({
  input_tokens: tokens,
  input_tokens_details: z.object({ cached_tokens: z.literal(0) }),
  output_tokens: tokens.describe('What is charged: those of the content, without any reasoning.'),
  output_tokens_details: z
    .object({ reasoning_tokens: tokens })
    .describe('The most tokens that the reasoning can have had. They are in no other count.'),
  total_tokens: tokens,
  cost: usdc.describe('What the answer costs, in stablecoin units.'),
});

/** What every form of an answer repeats of its request; nothing of it is kept. */
export const responseEcho = z.object({
  instructions: z.string().nullable(),
  tools: z.array(z.unknown()).describe('Those that the model was offered.'),
  tool_choice: z.unknown(),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.unknown() }),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
  temperature: z.number().describe('1 where the request says nothing: the model has its own.'),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  max_output_tokens: z.int().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  user: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  safety_identifier: z.string().nullable(),
  store: z.literal(false).describe('Nothing is stored, also where the request asks for it.'),
  background: z.literal(false),
  truncation: z.literal('disabled'),
  service_tier: z.literal('default'),
  previous_response_id: z.null(),
  max_tool_calls: z.null(),
  top_logprobs: z.literal(0),
});

export const responseObject = responseEcho.extend({
  id: z
    .string()
    .regex(/^resp_job_[0-9a-f]{32}$/)
    .describe('`resp_` and the job id.'),
  object: z.literal('response'),
  created_at: unixSeconds,
  completed_at: unixSeconds.nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: z
    .object({ reason: z.enum(['max_output_tokens', 'content_filter']) })
    .nullable()
    .describe('`max_output_tokens` also where the time limit of the job cut the answer.'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  model: z.string(),
  output: z.array(responseItem).describe('The proven text is that of all messages, joined.'),
  usage: responseUsage.nullable(),
  svc: answerEvidence
    .or(z.object({ job_id: jobId, verify_url: z.string() }))
    .optional()
    .describe(
      'As in a chat completion. Of a failed response the job alone, and none before the end.',
    ),
});

export type ResponseObject = z.infer<typeof responseObject>;

type ResponseEventType =
  | `response.${'created' | 'in_progress' | 'completed' | 'incomplete' | 'failed'}`
  | `response.${'output_item' | 'content_part'}.${'added' | 'done'}`
  | `response.${'output_text' | 'reasoning_text' | 'function_call_arguments'}.${'delta' | 'done'}`
  | 'error';

/** The data of one event of a streamed response. */
export interface ResponseEvent {
  type: ResponseEventType;
  /** From 0, without a gap. */
  sequence_number: number;
  [field: string]: unknown;
}
