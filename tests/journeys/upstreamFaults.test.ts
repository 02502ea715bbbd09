import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import { createRandom } from '../../testing/random.ts';
import {
  FORMS,
  type Form,
  ROUTES,
  type Route,
  requestCompletion,
  sample,
  untilSampled,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createSwitchedEngine, type SwitchedEngine } from '../../testing/workers/engines.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { playUpstreamFault, type UpstreamFault } from '../faults/upstreamFaults.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CREDITS = 1_000n;
/** Longer than an answer may be without text before it is cut off. */
const TOO_LONG_MS = 21_000;
/** More than any Retry-After here, and soon enough for the next health check. */
const BUSY_MS = 10_000;
const FIRST_TOKENS = 'svc_api_stage_seconds_count{stage="first_token"}';

const random = createRandom(1);

let service: RunningService;
let upstream: UpstreamServer;
let engine: SwitchedEngine;
/** Accepts connections and never says a word to anything it is sent. */
let silent: Server;
const sockets = new Set<Socket>();

beforeAll(async () => {
  upstream = await startUpstream();
  engine = createSwitchedEngine(createUpstreamEngine({ url: upstream.url }));
  service = await startRunningService({ workers: [engine], apiSettings: { METRICS_PORT: '0' } });
  silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
});

afterAll(async () => {
  await service?.close();
  upstream?.close();
  for (const socket of sockets) socket.destroy();
  silent?.close();
});

/** What a client gets. */
interface Outcome {
  /** Of a plain answer and of a stream. */
  statuses: [plain: number, stream: number];
  /** Of its error. */
  code?: string;
  charge: bigint;
  /** Where a text's tokens are bounded in place of counted. */
  chargeMax?: bigint;
  maxTokens?: number;
  retryAfter?: string;
  /** Seconds by which the ledger's clock has to move until there is an answer. */
  clockSeconds?: number[];
}

const REFUSED: Outcome = { statuses: [500, 500], code: 'worker_failed', charge: 0n };
const BROKEN: Outcome = { ...REFUSED, statuses: [500, 200] };
const BUSY: Outcome = { statuses: [503, 503], code: 'no_workers_available', charge: 0n };
const INVALID: Outcome = { statuses: [400, 400], code: 'invalid_request', charge: 0n };
const OVERDUE: Outcome = {
  ...{ statuses: [504, 504], code: 'job_timeout', charge: 0n },
  clockSeconds: [STOPPED_SECONDS, 10, 10],
};
/** Cut off at the token limit, for the price of the limit. */
const ENDLESS: Outcome = { statuses: [200, 200], charge: 12n, maxTokens: 3_000 };

type Fault =
  // Many, each of which has a test of the worker's own.
  | Exclude<UpstreamFault, 'breaks in a dialect'>
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
  'answers 422': INVALID,
  'answers 429': BUSY,
  'answers 429 with Retry-After': { ...BUSY, retryAfter: '1' },
  'is busy behind a sign of life': BUSY,
  'says behind a sign of life when to ask again': { ...BUSY, retryAfter: '7' },
  'refuses behind a sign of life': INVALID,
  'answers 500': REFUSED,
  'answers 503': BUSY,
  'answers with HTML': REFUSED,
  'breaks its events': BROKEN,
  'cuts its answer': BROKEN,
  'hangs after a word': BROKEN,
  'answers nothing': REFUSED,
  'sends an error in its stream': BROKEN,
  'has an error in its choice': BROKEN,
  'ends with a broken reason': BROKEN,
  'gives no reason': BROKEN,
  'writes behind its end': BROKEN,
  'does not end': ENDLESS,
  'sends long deltas without end': ENDLESS,
  // For a thousand tokens, which it says are five thousand: those would cost 20 credits.
  'counts five times': { statuses: [200, 200], charge: 4n, chargeMax: 8n },
};

const FAULTS = Object.keys(OUTCOMES) as Fault[];

/** The faults of one outcome take turns, so that each outcome is shown in both forms of both routes. */
function routeFor(fault: Fault, form: Form): Route {
  const alike = FAULTS.filter((each) => OUTCOMES[each] === OUTCOMES[fault]);
  return ROUTES[(alike.indexOf(fault) + FORMS.indexOf(form)) % ROUTES.length] as Route;
}

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
      upstream.answerWith((reply) => playUpstreamFault(fault, reply, random));
      return createUpstreamEngine({ url: upstream.url });
  }
}

/** Brings the time that an answer with this fault waits for. */
async function bringTime(fault: Fault, begunBefore: number): Promise<void> {
  const { clockSeconds = [] } = OUTCOMES[fault];
  if (fault === 'hangs after a word') {
    await untilSampled(service, FIRST_TOKENS, (count) => count > begunBefore);
    service.time.advance(TOO_LONG_MS);
  }
  if (clockSeconds.length === 0) return;
  await until(async () => (await service.workers[0]?.inFlight()) === 1);
  for (const seconds of clockSeconds) await service.advanceSeconds(seconds);
}

describe.each(FORMS)('the %s answer of an upstream that', (form) => {
  it.each(FAULTS)('%s is charged for what was proven', async (fault) => {
    const { statuses, code, charge, chargeMax = charge, maxTokens = 10_000 } = OUTCOMES[fault];
    const { retryAfter } = OUTCOMES[fault];
    const status = statuses[FORMS.indexOf(form)];
    engine.use(engineFor(fault));
    const { address, apiKey } = await service.addWallet(CREDITS);
    const begunBefore = (await sample(service, FIRST_TOKENS)) ?? 0;
    const route = routeFor(fault, form);
    const body = { max_tokens: maxTokens };
    const asking = requestCompletion(service, { form, route, apiKey, body });
    await bringTime(fault, begunBefore);
    const { headers, error, finishReason, ...answer } = await asking;
    expect([answer.status, error?.code]).toEqual([status, code]);
    if (code !== undefined) expect(finishReason).toBeNull();
    else expect(finishReason).toBe(maxTokens < 10_000 ? 'length' : 'stop');
    if (status === 503) {
      expect(headers['retry-after']).toMatch(retryAfter ?? /^[1-9]\d*$/);
      // Until then the worker calls itself busy.
      service.time.advance(BUSY_MS);
    }
    const { available, locked } = await untilEnded(service, address, 1);
    expect(locked).toBe(0n);
    expect(available).toBeLessThanOrEqual(CREDITS - charge);
    expect(available).toBeGreaterThanOrEqual(CREDITS - chargeMax);
    await service.expectConserved();
  });
});
