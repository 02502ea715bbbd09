import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type Form, openCompletion, readAnswer } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import {
  playUpstreamFault,
  UPSTREAM_FAULTS,
  type UpstreamFault,
} from '../faults/upstreamFaults.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
const MAX_TOKENS = 10_000;
/** Longer than an answer may stand still shortly before its deadline. */
const STANDSTILL_MS = 11_000;

let service: RunningService;
let upstream: UpstreamServer;
/** Accepts connections and never says a word, whatever it is sent. */
let silent: Server;
const sockets = new Set<Socket>();
let engine: Engine;

beforeAll(async () => {
  upstream = await startUpstream();
  silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  service = await startRunningService({
    workers: [{ kind: 'upstream', generate: (chat, limits) => engine.generate(chat, limits) }],
  });
});

afterEach(() => void jest.restoreAllMocks());

afterAll(async () => {
  await service?.close();
  upstream?.close();
  for (const socket of sockets) socket.destroy();
  silent?.close();
});

/** What a client gets, as its status and the code of its error. */
interface Outcome {
  plain: [status: number, code?: string];
  stream: [status: number, code?: string];
  charge: bigint;
  /** Where a text's tokens are bounded in place of counted. */
  chargeMax?: bigint;
  /** Seconds by which the ledger's clock has to move until there is an answer. */
  clockSeconds?: number[];
}

const REFUSED: Outcome = {
  plain: [500, 'worker_failed'],
  stream: [500, 'worker_failed'],
  charge: 0n,
};
const BROKEN: Outcome = { ...REFUSED, stream: [200, 'worker_failed'] };
const BUSY: Outcome = {
  plain: [503, 'no_workers_available'],
  stream: [503, 'no_workers_available'],
  charge: 0n,
};
const OVERDUE: Outcome = {
  plain: [504, 'job_timeout'],
  stream: [504, 'job_timeout'],
  charge: 0n,
  clockSeconds: [106, 10, 10],
};

type Fault =
  | UpstreamFault
  | 'refuses the connection'
  | 'has a name that does not resolve'
  | 'hangs in its TLS handshake'
  | 'sends long deltas without end';

const OUTCOMES: Record<Fault, Outcome> = {
  'refuses the connection': REFUSED,
  'has a name that does not resolve': REFUSED,
  'hangs in its TLS handshake': OVERDUE,
  'sends no headers': OVERDUE,
  'answers 401': REFUSED,
  'answers 404': REFUSED,
  'answers 429': BUSY,
  'answers 429 with Retry-After': BUSY,
  'answers 500': REFUSED,
  'answers 503': BUSY,
  'answers with HTML': REFUSED,
  'breaks its events': BROKEN,
  'cuts its answer': BROKEN,
  'hangs after a word': { ...BROKEN, clockSeconds: [106] },
  'answers nothing': REFUSED,
  'sends an error in its stream': BROKEN,
  // Cut off at the token limit, for the price of the limit.
  'does not end': { plain: [200], stream: [200], charge: 40n },
  'sends long deltas without end': { plain: [200], stream: [200], charge: 40n },
  // For a thousand tokens, which it says are five thousand: those would cost 20 credits.
  'counts five times': { plain: [200], stream: [200], charge: 4n, chargeMax: 8n },
};

function engineFor(fault: Fault): Engine {
  const { port } = silent.address() as AddressInfo;
  switch (fault) {
    case 'refuses the connection':
      return createUpstreamEngine({ url: 'http://127.0.0.1:9/v1' });
    case 'has a name that does not resolve':
      return createUpstreamEngine({ url: 'http://upstream.invalid/v1' });
    case 'hangs in its TLS handshake':
      return createUpstreamEngine({ url: `https://127.0.0.1:${port}/v1` });
    case 'sends long deltas without end':
      upstream.answerWith(async (reply) => {
        const closed = reply.closed.then(() => true);
        const paused = () => new Promise<false>((resolve) => setImmediate(resolve, false));
        do reply.text('word '.repeat(20_000));
        while (!(await Promise.race([closed, paused()])));
      });
      return createUpstreamEngine({ url: upstream.url });
    default:
      upstream.answerWith((reply) => playUpstreamFault(fault, reply));
      return createUpstreamEngine({ url: upstream.url });
  }
}

/** Moves the ledger's clock once the job is at its worker, and nothing more comes of it. */
async function moveClock(wallet: Awaited<ReturnType<RunningService['addWallet']>>, fault: Fault) {
  await untilDispatched(service, wallet.address, 1);
  if (fault === 'hangs after a word') {
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + STANDSTILL_MS);
  }
  for (const seconds of OUTCOMES[fault].clockSeconds ?? []) {
    await service.advanceSeconds(seconds);
  }
}

/** Completes with a wallet of its own. */
async function complete(fault: Fault, form: Form, faulty = engineFor(fault)) {
  const wallet = await service.addWallet(CREDITS);
  engine = faulty;
  const body = { max_tokens: MAX_TOKENS };
  const answering = openCompletion(service, { form, apiKey: wallet.apiKey, body }).then(readAnswer);
  if (OUTCOMES[fault].clockSeconds) await moveClock(wallet, fault);
  const { status, error, headers, body: text } = await answering;
  const books = await untilEnded(service, wallet.address, 1);
  return { received: [status, ...(error ? [error.code] : [])], headers, text, books };
}

describe('an upstream that', () => {
  const faults = Object.keys(OUTCOMES) as Fault[];

  it('has every fault that the seeded faults draw', () => {
    expect(faults).toEqual(expect.arrayContaining(Object.keys(UPSTREAM_FAULTS)));
    expect(faults).toHaveLength(19);
  });

  describe.each(['plain', 'stream'] as const)('%s', (form) => {
    it.each(faults)('%s is charged for what was proven alone', async (fault) => {
      const { charge, chargeMax = charge, [form]: expected } = OUTCOMES[fault];
      const { received, books, headers, text } = await complete(fault, form);
      expect(received).toEqual(expected);
      expect(books.locked).toBe(0n);
      expect(books.available).toBeLessThanOrEqual(CREDITS - charge);
      expect(books.available).toBeGreaterThanOrEqual(CREDITS - chargeMax);
      if (expected[0] === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      if (fault === 'does not end') expect(text).toContain('"finish_reason":"length"');
      await service.expectConserved();
    });
  });

  it('names a time has it passed on as Retry-After', async () => {
    upstream.answerWith((reply) => {
      reply.head(429, { 'retry-after': '7' });
      reply.end();
    });
    const faulty = createUpstreamEngine({ url: upstream.url });
    const { headers } = await complete('answers 429 with Retry-After', 'plain', faulty);
    expect(headers['retry-after']).toBe('7');
  });
});
