import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { post } from '../../common/net/post.ts';
import { delay, within } from '../../common/wait.ts';
import { deliveryHeaders, generateSecret } from '../../webhooks/signature.ts';
import { CommandError } from '../terminal/output.ts';
import { ServiceError, type Session } from './service.ts';

/** The service writes something every 10 s. */
const SILENCE_MS_MAX = 30_000;
/** As the service waits for a receiver. */
const EXCHANGE_MS_MAX = 10_000;
/** Doubled at each failure. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** A session that is not used ends after twelve hours. */
const USE_INTERVAL_MS = 3_600_000;

const UNAUTHORIZED = 401;

/**
 * Forwards the wallet's events to a receiver, one after the other, and prints each with the
 * receiver's answer. A lost connection is opened again where it broke off.
 *
 * @param options.signal ends it
 * @throws CommandError when the service refuses, or ends the session
 */
export async function listen(options: {
  session: Session;
  forwardTo: URL;
  signal: AbortSignal;
}): Promise<void> {
  const { session, forwardTo, signal } = options;
  const secret = generateSecret();
  const use = setInterval(() => void session.call('GET /session').catch(ignore), USE_INTERVAL_MS);
  /** Of the last event. */
  let place = 0;
  let pauseMs = PAUSE_MS;
  let isFirst = true;

  async function onMessage({ id, event, data }: EventSourceMessage): Promise<void> {
    if (event === 'listening') return onListening(JSON.parse(data).resumed);
    const missing = Number(id) - place - 1;
    if (missing > 0) console.error(`${missing} older events are lost: they waited ten minutes.`);
    place = Number(id);
    await forward(data, { session, forwardTo, secret, signal });
  }

  function onListening(isResumed: boolean): void {
    pauseMs = PAUSE_MS;
    if (isFirst) {
      console.error(`Forwarding events to ${forwardTo}. Ctrl-C ends it.`);
      console.error(`Signed with the secret of this session: ${secret}`);
    } else if (isResumed) console.error('Connected again.');
    else {
      place = 0;
      console.error('Connected again. The events in between are lost.');
    }
    isFirst = false;
  }

  try {
    while (!signal.aborted) {
      try {
        for await (const message of connect(session, place, signal)) await onMessage(message);
        if (!signal.aborted) console.error('The connection was lost. Connecting again…');
      } catch (error) {
        if (signal.aborted) break;
        // At the start, a person waits for the answer.
        if (isFirst || !isTransient(error)) throw explain(error);
        console.error(`${error.message} Trying again in ${pauseMs / 1_000} s.`);
      }
      await delay(pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
    }
  } finally {
    clearInterval(use);
  }
}

/** The messages of one connection, until it breaks off or is silent for too long. @throws ServiceError */
async function* connect(
  session: Session,
  place: number,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const ended = new AbortController();
  const late = setTimeout(() => ended.abort(), SILENCE_MS_MAX);
  const response = await session
    .open('POST /webhooks/listen', {
      headers: place > 0 ? { 'last-event-id': String(place) } : {},
      signal: AbortSignal.any([signal, ended.signal]),
    })
    .finally(() => clearTimeout(late));
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = () => reader?.read().catch(() => undefined) ?? Promise.resolve(undefined);
  try {
    let part = await within(SILENCE_MS_MAX, read());
    while (part && !part.done) {
      parser.feed(part.value);
      yield* messages.splice(0);
      part = await within(SILENCE_MS_MAX, read());
    }
  } finally {
    ended.abort();
  }
}

/** Posts one event as the service does, and prints how it was answered. */
async function forward(
  body: string,
  options: { session: Session; forwardTo: URL; secret: string; signal: AbortSignal },
): Promise<void> {
  const { session, forwardTo, secret, signal } = options;
  const { id, event, created_at } = JSON.parse(body) as Record<string, string>;
  const delivery = { eventId: String(id), body, attempt: 1, nowMs: Date.now() };
  const answer = await post(forwardTo, {
    headers: deliveryHeaders({ ...delivery, secrets: { current: secret } }),
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(EXCHANGE_MS_MAX)]),
  })
    .then((response) => {
      // The head decides, as it does for webhooks.
      response.destroy();
      return response.statusCode;
    })
    .catch((error: NodeJS.ErrnoException) => {
      const isLate = error.name === 'TimeoutError';
      return `no answer (${isLate ? `${EXCHANGE_MS_MAX / 1_000} s` : (error.code ?? error.name)})`;
    });
  if (signal.aborted) return;
  console.log(`${created_at}  ${event}  ${id}  ${answer}`);
  // For `svc webhooks trigger`, which otherwise says that this terminal did not answer.
  const report = { event_id: id, status_code: Number(answer) || 0 };
  await session.call('POST /webhooks/listen/answers', report).catch(ignore);
}

/** Whether it may be otherwise the next time. */
function isTransient(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  const { status } = error;
  return status === undefined || status >= 500 || status === 429;
}

function explain(error: unknown): unknown {
  const isEnded = error instanceof ServiceError && error.status === UNAUTHORIZED;
  if (!isEnded) return error;
  return new CommandError('The session has ended. Run the command again.', { cause: error });
}

const ignore = (): undefined => undefined;
