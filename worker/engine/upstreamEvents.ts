import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Some servers write an error in this field in place of `data:`; it becomes this event. */
const FIELD = 'error:';
const AS_EVENT = 'event: error\ndata:';

/**
 * Converts error fields of a streamed text into events. Some servers write an `error` field in place
 * of `data` when they fail. A parser ignores unknown
 * fields, and with the `[DONE]` that follows, half an answer would look complete.
 */
export function createErrorFields() {
  /** The end of the text, while it may still become an error field. */
  let held = '';
  let isLineBegun = false;

  function asEvents(text: string): string {
    const pattern = isLineBegun ? /([\r\n])error:/g : /(^|[\r\n])error:/g;
    return text.includes(FIELD) ? text.replace(pattern, `$1${AS_EVENT}`) : text;
  }

  return {
    /** @returns the text that can be passed on now */
    add(piece: string): string {
      const text = held + piece;
      const last = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
      const isWholeLine = last.length < text.length || !isLineBegun;
      held = isWholeLine && FIELD.startsWith(last) && last !== FIELD ? last : '';
      const passed = asEvents(text.slice(0, text.length - held.length));
      isLineBegun = held === '' && (last !== '' || (text === '' && isLineBegun));
      return passed;
    },
    /** @returns the text that was held back, at the end */
    flush: () => held,
  };
}

/** The longest event of an upstream: far longer than any token, and small enough to buffer. */
const EVENT_CHARACTERS_MAX = 1024 * 1024;

/** Of a body without framing: an error has a few lines. */
const UNFRAMED_CHARACTERS_MAX = 65_536;

/** A comment: the server keeps the connection, and works. */
const COMMENT: EventSourceMessage = { id: undefined, event: 'comment', data: '' };

/**
 * Reads server-sent events from a body. It uses no stream transforms: three of them cost a worker
 * more than everything else for a token.
 *
 * @throws what the body throws, and Error for an event that is too long
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  const errorFields = createErrorFields();
  const events: EventSourceMessage[] = [];
  /** What came before the first event. */
  let unframed = '';
  let hasEvents = false;
  let failure: Error | undefined;
  function add(event: EventSourceMessage): void {
    events.push(event);
    hasEvents = true;
  }

  const parser = createParser({
    maxBufferSize: EVENT_CHARACTERS_MAX,
    onEvent: add,
    onComment: () => add(COMMENT),
    onError(error) {
      // Other malformed lines are ignored; only an oversized event ends the answer.
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
  });
  for await (const bytes of body) {
    const text = errorFields.add(decoder.decode(bytes, { stream: true }));
    if (!hasEvents && unframed.length < UNFRAMED_CHARACTERS_MAX) unframed += text;
    parser.feed(text);
    yield* events.splice(0);
    if (failure) throw failure;
  }
  // The last line may lack its end, and the last event its empty line.
  parser.feed(`${errorFields.add(decoder.decode())}${errorFields.flush()}\n\n`);
  // Some servers write an error as JSON alone, though the head says that they stream.
  if (!hasEvents && /^\s*[{[]/.test(unframed))
    add({ ...COMMENT, event: undefined, data: unframed });
  yield* events.splice(0);
}

/** An event or object of this name is an error, with any content. */
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
