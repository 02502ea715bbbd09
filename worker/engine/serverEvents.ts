import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { createErrorFields } from './errorFields.ts';

/** One event of an upstream; far more than any token, far less than what could hurt. */
const EVENT_CHARACTERS_MAX = 1024 * 1024;

/**
 * Reads server-sent events from a body. By hand, since three streams in a row cost a worker more
 * than all else that it does for a token.
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
    onError(error) {
      // Of all that is no event, only what is too long ends the answer.
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
