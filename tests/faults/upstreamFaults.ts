import { delay } from '../../common/wait.ts';
import type { Random } from '../../testing/random.ts';
import { type Dialect, readDialects } from '../worker/dialects/read.ts';
import type { Reply } from '../worker/upstreamServer.ts';

/** Ends that no server means as a whole answer; the last is a word that none uses. */
const BROKEN_REASONS = ['abort', 'error', 'insufficient_system_resource', 'unfathomable'];

/** Faults of an upstream that accepts the connection, and after which no answer is whole. */
const BROKEN_ANSWERS = {
  'sends no headers': async (reply) => void (await reply.closed),
  'answers 401': (reply) => reply.refuse(401, { error: { message: 'bad key' } }),
  'answers 404': (reply) => reply.refuse(404, { error: { message: 'no such model' } }),
  'answers 429': (reply) => reply.refuse(429, {}),
  'answers 429 with Retry-After': (reply) => {
    reply.head(429, { 'retry-after': '1' });
    reply.end();
  },
  'is busy behind a sign of life': (reply) => {
    reply.lines(': ping\n\n');
    reply.raw('{"error":{"message":"later","code":429}}');
    reply.end();
  },
  'says behind a sign of life when to ask again': (reply) => {
    reply.lines(': ping\n\n');
    reply.raw('{"error":{"message":"later","code":429,"retry_after":7}}');
    reply.end();
  },
  'refuses behind a sign of life': (reply) => {
    reply.lines(': ping\n\n');
    reply.raw('{"error":{"message":"turn by turn","type":"invalid_request_error"}}');
    reply.end();
  },
  'answers 500': (reply) => reply.refuse(500, {}),
  'answers 503': (reply) => reply.refuse(503, {}),
  'answers with HTML': (reply) => {
    reply.head(200, { 'content-type': 'text/html' });
    reply.lines('<html><body>Welcome</body></html>');
    reply.end();
  },
  'breaks its events': (reply) => {
    reply.text('Hello');
    reply.raw('{"choices":[{"delta":');
    reply.end();
  },
  'cuts its answer': (reply) => {
    reply.text('Hello');
    reply.break();
  },
  'answers nothing': (reply) => {
    reply.complete('stop', 3, 0);
  },
  'sends an error in its stream': (reply) => {
    reply.text('Hello');
    reply.raw('{"error":{"message":"out of memory"}}');
    reply.done();
    reply.end();
  },
  'answers 422': (reply) => reply.refuse(422, { error: { message: 'unsupported' } }),
  'ends with a broken reason': (reply, random) => {
    reply.text('Hello');
    reply.complete(BROKEN_REASONS[random.below(BROKEN_REASONS.length)] as string, 3, 1);
  },
  'gives no reason': (reply) => {
    reply.text('Hello');
    reply.done();
    reply.end();
  },
  'has an error in its choice': (reply) => {
    reply.text('Hello');
    reply.raw(
      '{"choices":[{"index":0,"delta":{},"error":{"message":"lost"},"finish_reason":"stop"}]}',
    );
    reply.done();
    reply.end();
  },
  'writes behind its end': (reply) => {
    reply.text('Hello');
    reply.finish('stop');
    reply.text(' and more');
    reply.done();
    reply.end();
  },
  'breaks in a dialect': (reply, random) => speak(reply, drawDialect(random, isBroken)),
} as const satisfies Record<string, UpstreamScript>;

/** What looks odd and may earn its pay: a leap of the clock cuts an answer off a moment after its word. */
const WHOLE_ANSWERS = {
  'hangs after a word': async (reply) => {
    reply.text('Hello');
    await reply.closed;
  },
  'does not end': async (reply) => {
    let isOpen = true;
    void reply.closed.then(() => {
      isOpen = false;
    });
    while (isOpen) {
      for (let word = 0; word < 20; word += 1) reply.text('again ');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  },
  'counts five times': (reply) => {
    for (let word = 0; word < 1_000; word += 1) reply.text(' hello');
    reply.complete('stop', 3, 5_000);
  },
} as const satisfies Record<string, UpstreamScript>;

type UpstreamScript = (reply: Reply, random: Random) => void | Promise<void>;

const UPSTREAM_FAULTS = { ...BROKEN_ANSWERS, ...WHOLE_ANSWERS };

export type UpstreamFault = keyof typeof UPSTREAM_FAULTS;

/** Whether nothing may be charged for what comes of it. */
export const isUnpayable = (name: UpstreamFault): boolean => name in BROKEN_ANSWERS;

const RARE = 1;
const COMMON = 4;

/** Those that hang wait for the clock to be moved, and are drawn less often. */
export const UPSTREAM_WEIGHTS = Object.fromEntries(
  Object.keys(UPSTREAM_FAULTS).map((name) => [
    name,
    /hangs|no headers|not end/.test(name) ? RARE : COMMON,
  ]),
) as Record<UpstreamFault, number>;

export async function playUpstreamFault(
  name: UpstreamFault,
  reply: Reply,
  random: Random,
): Promise<void> {
  await UPSTREAM_FAULTS[name](reply, random);
}

/** An honest answer: silent while the prompt is read, then whole in any dialect. @returns its text */
export async function answerInDialect(
  reply: Reply,
  random: Random,
  silenceMsMax: number,
): Promise<string> {
  const dialect = drawDialect(random, isWhole);
  await delay(random.below(silenceMsMax));
  speak(reply, dialect);
  return 'text' in dialect.expect ? dialect.expect.text : '';
}

const dialects = readDialects();
const isBroken = ({ expect }: Dialect): boolean => 'error' in expect;
/** Those whose answer hangs on a field of the request are for its own test. */
const isWhole = ({ expect, request }: Dialect): boolean =>
  !('error' in expect) && Object.keys(request).length === 0;

function drawDialect(random: Random, isWanted: (dialect: Dialect) => boolean): Dialect {
  const wanted = dialects.filter(isWanted);
  return wanted[random.below(wanted.length)] as Dialect;
}

function speak(reply: Reply, { status, headers, body, breaks }: Dialect): void {
  reply.head(status, headers);
  reply.lines(body);
  if (breaks) reply.break();
  else reply.end();
}
