import { z } from 'zod';

// What gateways and workers agree on: docs/worker-protocol.md has it in words.

/** Every code a worker answers with, and its HTTP status. */
export const STATUS_OF_WORKER_ERROR = {
  invalid_request: 400,
  job_mismatch: 400,
  context_length_exceeded: 400,
  parameter_refused: 400,
  request_refused: 400,
  invalid_signature: 401,
  signer_not_allowed: 403,
  gateway_not_served: 403,
  share_too_low: 403,
  suspicious_lock: 403,
  job_not_found: 404,
  job_not_running: 404,
  route_not_found: 404,
  attempt_already_used: 409,
  job_not_open: 409,
  stopped_before_output: 409,
  body_too_large: 413,
  // For log and metrics: the caller is gone.
  caller_gone: 499,
  silent: 499,
  internal_error: 500,
  empty_output: 502,
  upstream_failed: 502,
  no_free_slot: 503,
  shutting_down: 503,
  ledger_unavailable: 503,
  worker_not_eligible: 503,
  upstream_not_ready: 503,
  deadline_passed: 504,
} as const;

export type WorkerErrorCode = keyof typeof STATUS_OF_WORKER_ERROR;

/** Why an answer ended, in the words of the format. Model servers spell them otherwise. */
export const FINISH_REASONS = ['stop', 'length', 'content_filter', 'tool_calls'] as const;

export type FinishReason = (typeof FINISH_REASONS)[number];

/** Why a gateway stops an answer: its job's end is near, or its client left. */
export const STOP_REASONS = ['deadline', 'client_gone'] as const;

export type StopReason = (typeof STOP_REASONS)[number];

/** A gateway stops an answer that still runs this long before the refund is due. */
export const STOP_BEFORE_END_SECONDS = 15n;

/** From here on a gateway signs no settlement, since it could land after the refund. */
export const PROOF_BEFORE_END_SECONDS = 5n;

/** Official clients ignore a longer `Retry-After`. */
export const RETRY_AFTER_SECONDS_MAX = 60;

/** How long a gateway waits for a health check. */
export const HEALTH_TIMEOUT_MS = 3_000;

/** The most jobs that a worker may say it takes at once. */
export const CAPACITY_MAX = 100_000;

/** Locks and proofs store a number of tokens in 32 bits. */
export const TOKENS_MAX = 0xffff_ffff;

/** The largest body that a gateway takes from its client. */
export const REQUEST_BYTES_MAX = 2 * 1_024 * 1_024;

/** The most messages of one conversation. */
export const MESSAGES_MAX = 2_048;

/** The most stop sequences of one request. */
export const STOP_SEQUENCES_MAX = 16;

/** The longest stop sequence, in Unicode characters. */
export const STOP_SEQUENCE_CHARACTERS_MAX = 256;

/** A character may be two units of a JavaScript string. */
const stopSequence = z
  .string()
  .min(1)
  .max(2 * STOP_SEQUENCE_CHARACTERS_MAX);

// The length is checked before the items, of which a body may hold a million.
const stopSequences = z.array(z.unknown()).max(STOP_SEQUENCES_MAX).pipe(z.array(stopSequence));

/**
 * The fields of a completion, all optional, that a gateway passes on and a worker gives to its engine,
 * besides model and messages. The API's own contract bounds their values.
 */
export const passedFields = {
  temperature: z.number(),
  top_p: z.number(),
  top_k: z.number().int(),
  min_p: z.number(),
  frequency_penalty: z.number(),
  presence_penalty: z.number(),
  repetition_penalty: z.number(),
  logit_bias: z.record(z.string(), z.number()),
  seed: z.number().int(),
  stop: z.union([stopSequence, stopSequences]),
  response_format: z.looseObject({ type: z.string() }),
  reasoning_effort: z.string(),
  chat_template_kwargs: z.record(z.string(), z.unknown()),
};

/** The most tools of one request. */
export const TOOLS_MAX = 128;

/** The most UTF-8 bytes of the `parameters` of all tools, each as `JSON.stringify` writes it. */
export const TOOL_SCHEMAS_BYTES_MAX = 65_536;

/** The most calls of one message. */
export const TOOL_CALLS_MAX = 128;

/** What a tool may be called. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const named = z.looseObject({ name: z.string().regex(TOOL_NAME) });

const tool = z.looseObject({
  type: z.literal('function'),
  function: named.extend({
    description: z.string().nullish(),
    parameters: z.looseObject({}).nullish(),
    strict: z.boolean().nullish(),
  }),
});

/**
 * The fields of tools, all optional. They stand apart from `passedFields`, since the API serves them
 * as a preview alone.
 */
export const toolFields = {
  tools: z.array(z.unknown()).max(TOOLS_MAX).pipe(z.array(tool)),
  tool_choice: z.union([
    z.enum(['none', 'auto', 'required']),
    z.looseObject({ type: z.literal('function'), function: named }),
  ]),
  parallel_tool_calls: z.boolean(),
};

export type ToolField = keyof typeof toolFields;

export const TOOL_FIELDS = Object.keys(toolFields) as ToolField[];

export type PassedField = keyof typeof passedFields;

export const PASSED_FIELDS = Object.keys(passedFields) as PassedField[];
