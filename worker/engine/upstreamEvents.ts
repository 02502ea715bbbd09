import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { WorkerError } from '../protocol/errors.ts';

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
const COMMENT: EventSourceMessage = { id: undefined, event: 'comment', data: '' };

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
  // The last line may lack its end, and the last event its empty line.
  parser.feed(`${errorFields.add(decoder.decode())}${errorFields.flush()}\n\n`);
  yield* events.splice(0);
}

/** An event or object of this name is an error, whatever it contains. */
export const ERROR_NAME = 'error';

/** Names of events that only keep a connection. */
const LIFE_EVENT = /^(comment|ping|heartbeat|keep-?alive)$/i;

/** Whether an event says only that the server works. */
export function isLife({ event = '', data }: EventSourceMessage): boolean {
  return (data.trim() === '' && event !== ERROR_NAME) || LIFE_EVENT.test(event);
}

/** Whether an event says that nothing follows; it says nothing about the answer. */
export function isDone({ data }: EventSourceMessage): boolean {
  return data.trim().toUpperCase() === '[DONE]';
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
export function asUpstreamError(data: string): WorkerError {
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
