import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import {
  FINISH_REASONS,
  type FinishReason,
  RETRY_AFTER_SECONDS_MAX,
  STATUS_OF_WORKER_ERROR,
  TOKENS_MAX,
  type WorkerErrorCode,
} from '../../common/workerProtocol.ts';
import type { ToolCall } from '../../programs/client/statement.ts';

/** A refusal or a health report needs some hundred bytes. */
const BODY_BYTES_MAX = 65_536;

/**
 * The JSON body of a worker's answer. What is longer is not received: a stranger must not be able
 * to fill our memory.
 *
 * @throws SyntaxError when it is no JSON, or longer than 64 KiB
 */
export async function readBoundedJson(body: Readable): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop closes the connection, which is an error to the body and none to us.
  body.on('error', () => undefined);
  for await (const chunk of body) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new SyntaxError('the body is too long');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** A worker did not do its part. */
export class WorkerFailedError extends Error {
  override name = 'WorkerFailedError';
  /** The worker's word, if it is one of the protocol's, or ours for what it left out. */
  readonly code: string;
  /** Set when the worker works and only had no capacity. */
  readonly busy: { retryAfterMs: number | undefined } | undefined;
  /** Whether nothing listens at its endpoint. */
  readonly isRefused: boolean;
  /** The field of the request that its model server refused, as it says. */
  readonly param: string | undefined;

  constructor(
    code: string,
    options: ErrorOptions & {
      busy?: WorkerFailedError['busy'];
      param?: string | undefined;
    } = {},
  ) {
    super(`The worker failed: ${code}`, options);
    this.code = code;
    this.busy = options.busy;
    this.param = options.param;
    this.isRefused = isConnectionRefused(options.cause);
  }
}

const REFUSALS: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH']);

/** Whether a request ended because nothing listens at its address. */
export function isConnectionRefused(error: unknown): boolean {
  return REFUSALS.has((error as { code?: unknown } | null | undefined)?.code);
}

/** Codes end up in the log, where a text must not: what is no word of the protocol is not repeated. */
const code = z
  .string()
  .transform((word) => (Object.hasOwn(STATUS_OF_WORKER_ERROR, word) ? word : 'unknown_code'));

/** In seconds; the other form, a date, would depend on the worker's clock. */
const retryAfter = z.coerce.number().int().positive().optional().catch(undefined);

/** The form of a refusal, and of an error event in the middle of an answer. */
const errorBody = z.object({
  error: z.object({
    code,
    param: z.string().max(64).optional().catch(undefined),
    retry_after: retryAfter,
  }),
});

/**
 * None of these is the worker's fault: another process's job, its own terms or ours on the ledger, or
 * what it cannot know.
 */
const busyCodes: ReadonlySet<string> = new Set<WorkerErrorCode>([
  'no_free_slot',
  'shutting_down',
  'upstream_not_ready',
  'worker_not_eligible',
  'job_not_open',
  'job_not_found',
  'job_not_running',
  'attempt_already_used',
  'gateway_not_served',
  'signer_not_allowed',
  'share_too_low',
  'suspicious_lock',
]);
const TOO_MANY_REQUESTS = 429;

/** What a worker's answer that is no answer says: why, and whether it was merely busy. */
export async function readRefusal(response: Dispatcher.ResponseData): Promise<WorkerFailedError> {
  const { statusCode, headers } = response;
  const body = errorBody.safeParse(await readBoundedJson(response.body).catch(() => undefined));
  const error = body.data?.error ?? { code: `status_${statusCode}` };
  const seconds =
    retryAfter.parse(headerOf(headers, 'retry-after')) ?? body.data?.error.retry_after;
  const isBusy = statusCode === TOO_MANY_REQUESTS;
  return failureOf({ ...error, retry_after: seconds }, isBusy);
}

/** A refusal means the same as a response and as an event behind signs of life. */
function failureOf(
  { code, param, retry_after: seconds }: z.infer<typeof errorBody>['error'],
  isBusy = false,
): WorkerFailedError {
  if (!isBusy && !busyCodes.has(code)) return new WorkerFailedError(code, { param });
  const retryAfterMs =
    seconds === undefined ? undefined : Math.min(seconds, RETRY_AFTER_SECONDS_MAX) * 1_000;
  return new WorkerFailedError(code, { busy: { retryAfterMs } });
}

/** A header that is given once; null without it. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

const sha256Hex = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const tokenCount = z.int().min(0).max(TOKENS_MAX);

/** The last event of an answer: what the worker signed. */
const proofEvent = z.object({
  output_hash: sha256Hex,
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  signature: z.base64(),
});

/** Half of a character has no sha256: it would be proven as another text than it is delivered. */
const text = z.string().refine((said) => said.isWellFormed());

const callDelta = z.object({
  index: z.int().min(0),
  id: text.optional(),
  function: z.object({ name: text.optional(), arguments: text.optional() }).optional(),
});

const chunkEvent = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: text.nullish(),
            reasoning_content: text.nullish(),
            tool_calls: z.array(callDelta).nullish(),
          })
          .optional(),
        finish_reason: z.enum(FINISH_REASONS).nullish(),
      }),
    )
    .default([]),
  truncated: z.literal('deadline').nullish(),
});

export interface WorkerProof {
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
  signature: Uint8Array;
}

/** A piece of the answer, or of the reasoning before it, which is proven and not charged. */
export type Piece = { type: 'content' | 'reasoning'; text: string } | CallPiece;

/** A piece of a call: the first one names it. */
export interface CallPiece {
  type: 'call';
  index: number;
  id?: string | undefined;
  name?: string | undefined;
  /** Of its arguments. */
  text: string;
}

/** Adds a piece to the calls of an answer. It is the next call's first piece, or one of an earlier. */
export function addToCalls(
  calls: ToolCall[],
  { index, id = '', name = '', text }: CallPiece,
): void {
  const call = calls[index];
  calls[index] = call
    ? { ...call, arguments: call.arguments + text }
    : { id, name, arguments: text };
}

export type WorkerEvent =
  | { type: 'started'; engine: string | null }
  | Piece
  /** The worker works, and has neither yet. */
  | { type: 'alive' }
  /** As the worker signed it. */
  | { type: 'finish'; reason: FinishReason; truncated: 'deadline' | null }
  | { type: 'proof'; proof: WorkerProof };

/** Far above an event with the longest text that any engine sends at once. */
const EVENT_CHARACTERS_MAX = 1_048_576;

/**
 * The events of an answer's body, those of a chunk together as it arrives. Yielded one by one, each
 * would wait for several promises in between.
 *
 * @throws WorkerFailedError as `readEvent` does, and when an event has no end
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly WorkerEvent[]> {
  const decoder = new TextDecoder();
  const messages: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw new WorkerFailedError('malformed_event');
    },
    maxBufferSize: EVENT_CHARACTERS_MAX,
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const events: WorkerEvent[] = [];
    try {
      for (const { event, data } of messages.splice(0)) events.push(...readEvent(event, data));
    } catch (error) {
      // What came before it was said all the same.
      yield events;
      throw error;
    }
    yield events;
  }
}

/**
 * What one server-sent event of an answer means.
 *
 * @throws WorkerFailedError when the worker says that it failed, or what the protocol does not know
 */
function readEvent(event: string | undefined, data: string): WorkerEvent[] {
  if (data === '[DONE]') return [];
  if (event === 'alive') return [{ type: 'alive' }];
  const json = parseJson(data);
  if (event === 'proof') {
    const proof = parseEvent(proofEvent, json);
    return [
      {
        type: 'proof',
        proof: {
          outputHash: Buffer.from(proof.output_hash.slice('sha256:'.length), 'hex'),
          promptTokens: proof.prompt_tokens,
          completionTokens: proof.completion_tokens,
          signature: Buffer.from(proof.signature, 'base64'),
        },
      },
    ];
  }
  if (event === 'error') {
    throw failureOf(parseEvent(errorBody, json).error);
  }
  const {
    choices: [choice],
    truncated = null,
  } = parseEvent(chunkEvent, json);
  const { content, reasoning_content, tool_calls } = choice?.delta ?? {};
  const events: WorkerEvent[] = [];
  if (reasoning_content) events.push({ type: 'reasoning', text: reasoning_content });
  if (content) events.push({ type: 'content', text: content });
  for (const { index, id, function: { name, arguments: text = '' } = {} } of tool_calls ?? []) {
    // What says nothing is no sign that the answer goes on.
    if (id || name || text) events.push({ type: 'call', index, id, name, text });
  }
  if (choice?.finish_reason)
    events.push({ type: 'finish', reason: choice.finish_reason, truncated });
  return events;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The cause quotes the text, which no log may hold.
    if (cause instanceof SyntaxError) throw new WorkerFailedError('malformed_event');
    throw cause;
  }
}

function parseEvent<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new WorkerFailedError('malformed_event');
  return parsed.data;
}
