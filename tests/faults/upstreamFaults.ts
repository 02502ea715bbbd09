import type { Reply } from '../worker/upstreamServer.ts';

/** Faults of an upstream that accepts the connection. */
export const UPSTREAM_FAULTS = {
  'sends no headers': async (reply) => void (await reply.closed),
  'answers 401': (reply) => reply.refuse(401, { error: { message: 'bad key' } }),
  'answers 404': (reply) => reply.refuse(404, { error: { message: 'no such model' } }),
  'answers 429': (reply) => reply.refuse(429, {}),
  'answers 429 with Retry-After': (reply) => {
    reply.head(429, { 'retry-after': '1' });
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
  'hangs after a word': async (reply) => {
    reply.text('Hello');
    await reply.closed;
  },
  'answers nothing': (reply) => {
    reply.finish('stop');
    reply.usage(3, 0);
    reply.done();
    reply.end();
  },
  'sends an error in its stream': (reply) => {
    reply.text('Hello');
    reply.raw('{"error":{"message":"out of memory"}}');
    reply.done();
    reply.end();
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
    reply.finish('stop');
    reply.usage(3, 5_000);
    reply.done();
    reply.end();
  },
} as const satisfies Record<string, (reply: Reply) => void | Promise<void>>;

export type UpstreamFault = keyof typeof UPSTREAM_FAULTS;

const RARE = 1;
const COMMON = 4;

/** Those that hang wait for the clock to be moved, and are drawn less often. */
export const UPSTREAM_WEIGHTS = Object.fromEntries(
  Object.keys(UPSTREAM_FAULTS).map((name) => [
    name,
    /hangs|no headers|not end/.test(name) ? RARE : COMMON,
  ]),
) as Record<UpstreamFault, number>;

export async function playUpstreamFault(name: UpstreamFault, reply: Reply): Promise<void> {
  await UPSTREAM_FAULTS[name](reply);
}
