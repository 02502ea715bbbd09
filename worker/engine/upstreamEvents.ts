import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { FinishReason, Usage } from './engine.ts';

/** Some servers write an error in this field in place of `data:`; it becomes this event. */
const FIELD = 'error:';
const AS_EVENT = 'event: error\ndata:';

/** Converts error fields of a streamed text into events. */
interface ErrorFields {
  /** @returns the text that can be passed on now */
  add(piece: string): string;
  /** @returns the text that was held back, at the end */
  flush(): string;
}

/**
 * Some servers write an `error` field in place of `data` when they fail. A parser ignores unknown
 * fields, and with the `[DONE]` that follows, half an answer would look complete.
 */
export function createErrorFields(): ErrorFields {
  /** The end of the text, while it may still become an error field. */
  let held = '';
  let isLineBegun = false;

  function asEvents(text: string): string {
    const pattern = isLineBegun ? /([\r\n])error:/g : /(^|[\r\n])error:/g;
    return text.includes(FIELD) ? text.replace(pattern, `$1${AS_EVENT}`) : text;
  }

  return {
    add(piece) {
      const text = held + piece;
      const last = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
      const isWholeLine = last.length < text.length || !isLineBegun;
      held = isWholeLine && FIELD.startsWith(last) && last !== FIELD ? last : '';
      const passed = asEvents(text.slice(0, text.length - held.length));
      isLineBegun = held === '' && (last !== '' || (text === '' && isLineBegun));
      return passed;
    },
    flush: () => held,
  };
}

/** The longest event of an upstream: far longer than any token, and small enough to buffer. */
const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** A comment: the server keeps the connection, and works. */
export const COMMENT: EventSourceMessage = { id: undefined, event: 'comment', data: '' };

/**
 * Reads server-sent events from a body. It uses no stream transforms: three of them cost a worker
 * more than everything else for a token.
 *
 * @throws whatever the body throws, and Error for an event that is too long
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  const errorFields = createErrorFields();
  const events: EventSourceMessage[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: (event) => void events.push(event),
    onComment: () => void events.push(COMMENT),
    onError(error) {
      // Other malformed lines are ignored; only an oversized event ends the answer.
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
  });
  for await (const bytes of body) {
    parser.feed(errorFields.add(decoder.decode(bytes, { stream: true })));
    yield* events.splice(0);
    if (failure) throw failure;
  }
  parser.feed(errorFields.add(decoder.decode()) + errorFields.flush());
  yield* events.splice(0);
}

/** An error body has a few lines; the rest of a larger one is not read. */
const BODY_BYTES_MAX = 64 * 1024;

/** Only for these statuses does the body decide the meaning. */
const REFUSED_STATUSES = [400, 413, 422];

/** Messages of common servers for a prompt that does not fit the model. */
const CONTEXT_LENGTH = /context[_ ](length|size|window)|maximum context|exceeds? .*context/i;

/** Statuses of servers without capacity; another worker may have some. */
const BUSY_STATUSES: Readonly<Record<number, string>> = {
  429: 'is busy',
  503: 'is busy, or loads its model',
};

/** How servers name the fields that not every one takes, in the words of their refusals. */
const REFUSED_FIELDS: Readonly<Record<string, RegExp>> = {
  response_format: /response_format|json_schema|json_object|grammar/i,
  top_k: /\btop_k\b/,
  min_p: /\bmin_p\b/,
  repetition_penalty: /repetition_penalty/,
  logit_bias: /logit_bias/,
  reasoning_effort: /reasoning[_.]effort/,
  chat_template_kwargs: /chat_template|enable_thinking/,
};

/**
 * The error for an upstream's error status. It never contains the body, which may quote the prompt.
 *
 * @param chat what was asked: only a field that it has can have been refused
 * @param bodyWaitMs the status is known already, and the job needs another worker soon
 */
export async function asUpstreamRefusal(
  response: Response,
  chat: Record<string, unknown>,
  bodyWaitMs: number,
): Promise<WorkerError> {
  if (REFUSED_STATUSES.includes(response.status)) {
    const body = await readStart(response, bodyWaitMs);
    if (CONTEXT_LENGTH.test(body)) return tooLong();
    const sent = Object.entries(REFUSED_FIELDS).filter(([field]) => chat[field] !== undefined);
    const param = sent.find(([, words]) => words.test(body))?.[0];
    if (param !== undefined) return parameterRefused(param);
  } else {
    await response.body?.cancel();
  }
  return asUpstreamStatus(response);
}

/** The error for a status that says all, with the time after which it is worth asking again. */
export function asUpstreamStatus({ status, headers }: Response): WorkerError {
  const busy = BUSY_STATUSES[status];
  if (busy === undefined)
    return new WorkerError('upstream_failed', `The upstream answered with status ${status}`);
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'));
  return new WorkerError('no_free_slot', `The upstream ${busy}: status ${status}`, {
    retryAfterSeconds,
  });
}

/** Clients ignore a longer time. */
const RETRY_AFTER_SECONDS_MAX = 60;

/** Seconds or a date, as whole seconds from 1 to 60; undefined when it is neither. */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const isNumber = /^\d+(\.\d+)?$/.test(header.trim());
  const seconds = isNumber ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}

/** The error for an error event in an upstream's stream. */
function asUpstreamError(data: string): WorkerError {
  if (CONTEXT_LENGTH.test(data)) return tooLong();
  return new WorkerError('upstream_failed', 'The upstream sent an error in place of its answer');
}

/** The error for a field that the engine or its upstream does not take. */
export function parameterRefused(param: string): WorkerError {
  return new WorkerError('parameter_refused', `The model's server refuses ${param}`, { param });
}

function tooLong(): WorkerError {
  return new WorkerError('context_length_exceeded', 'The conversation is too long for the model');
}

async function readStart(response: Response, waitMs: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  const timer = setTimeout(() => void reader?.cancel(), waitMs);
  let text = '';
  try {
    while (text.length < BODY_BYTES_MAX) {
      const bytes = (await reader?.read())?.value;
      if (bytes === undefined) break;
      text += decoder.decode(bytes, { stream: true });
    }
    return text;
  } finally {
    clearTimeout(timer);
    await reader?.cancel();
  }
}

/** The error for a failed connection. */
export function asUpstreamFailure(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error;
  const reason = describeConnectionFault(error);
  return new WorkerError('upstream_failed', `The connection to the upstream failed: ${reason}`);
}

const count = z.number().int().nonnegative();
const maybeCount = count.nullish().catch(undefined);
const maybeText = z.string().nullish().catch(undefined);

/** The parts of a chunk that matter here; upstreams differ in everything else. */
const upstreamChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            // Ollama and others use the shorter name; some use both for the same text.
            reasoning_content: maybeText,
            reasoning: maybeText,
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  // Malformed counts are treated as missing.
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      completion_tokens_details: z
        .object({ reasoning_tokens: maybeCount })
        .nullish()
        .catch(undefined),
      // SGLang tells it here.
      reasoning_tokens: maybeCount,
    })
    .nullish()
    .catch(undefined),
  error: z.unknown().optional(),
  object: z.unknown().optional(),
});

/** An event or object of this name is an error, whatever it contains. */
const ERROR_NAME = 'error';

/**
 * @param event the event's own name, if it has one
 * @throws WorkerError for anything but a chunk; it does not quote the text
 */
export function parseUpstreamChunk(
  data: string,
  event?: string,
): {
  text: string;
  reasoning: string;
  /** Whether the chunk is about the answer, not its usage alone. */
  isDelta: boolean;
  finishReason: FinishReason | undefined;
  usage: Usage | undefined;
} {
  const parsed = upstreamChunk.safeParse(parseJson(data));
  const isError = event === ERROR_NAME || parsed.data?.object === ERROR_NAME;
  if (isError || parsed.data?.error) throw asUpstreamError(data);
  if (!parsed.success) {
    throw new WorkerError('upstream_failed', 'The upstream sent a malformed chunk');
  }
  const { choices, usage } = parsed.data;
  // One answer was requested, so further choices are ignored.
  const choice = choices?.find(({ index }) => !index);
  return {
    text: choice?.delta?.content ?? '',
    reasoning: choice?.delta?.reasoning_content || choice?.delta?.reasoning || '',
    isDelta: choice?.delta != null,
    finishReason: choice?.finish_reason ? asFinishReason(choice.finish_reason) : undefined,
    usage: usage
      ? {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens,
          reasoningTokens:
            usage.completion_tokens_details?.reasoning_tokens ??
            usage.reasoning_tokens ??
            undefined,
        }
      : undefined,
  };
}

/** Reasons of only some upstreams ("eos", "end_turn") all mean that the model has finished. */
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
