import { afterEach, describe, expect, it } from '@jest/globals';
import { createReadiness } from '../../api/status/readiness.ts';
import { createPool } from '../../common/postgres.ts';
import { systemTime, type Time } from '../../common/wait.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { serveApp } from './serveApp.ts';

const working = {
  database: { query: async () => ({ rows: [] }) },
  clock: { read: async () => 0n },
  directory: { answering: () => [{}] },
  catalog: { list: () => [{}] },
  readFaults: async () => [] as { part: string }[],
  isDraining: () => false,
};
const ALL_OK = {
  ...{ database: 'ok', mirror: 'ok', ledger: 'ok', program: 'ok', gateway: 'ok', signer: 'ok' },
  ...{ fee_payers: 'ok', catalog: 'ok', workers: 'ok' },
};
/** Far longer than a statement may take. */
const FAR_MS = 60_000;
const away = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.5:5432'));

/** A database that refuses such statements. */
const without = (refused: RegExp) => ({
  query: (text: string) => (refused.test(text) ? away() : working.database.query()),
});

const timeAt = (nowMs: () => number): Time => ({ ...systemTime, nowMs });

type Parts = Parameters<typeof createReadiness>[0];
let app: Awaited<ReturnType<typeof serveApp>> | undefined;

afterEach(() => app?.close());

async function ask(path: string, given: object = {}) {
  const parts = { ...working, time: timeAt(() => 0), timeoutMs: 50, ...given };
  const readiness = createReadiness(parts as unknown as Parts);
  app = await serveApp({ readiness, isDraining: parts.isDraining });
  const response = await fetch(`${app.url}${path}`);
  return { status: response.status, body: await response.json() };
}

describe('GET /health', () => {
  it('answers while the process is up, even if everything else is unavailable [surface.health]', async () => {
    const answer = await ask('/health', { database: { query: away } });

    expect(answer).toEqual({ status: 200, body: { status: 'ok' } });
  });
});

describe('a process that is ending', () => {
  it('answers /health and /ready with 503 draining, so that balancers leave it', async () => {
    const isDraining = () => true;
    expect(await ask('/health', { isDraining })).toEqual({
      status: 503,
      body: { status: 'draining' },
    });
    await app?.close();
    expect(await ask('/ready', { isDraining })).toEqual({
      status: 503,
      body: { status: 'draining', parts: ALL_OK },
    });
  });
});

describe('GET /ready', () => {
  it('is 200 while all that a completion needs is there', async () => {
    expect(await ask('/ready')).toEqual({
      status: 200,
      body: { status: 'ready', parts: ALL_OK },
    });
  });

  it.each([
    ['database', { database: without(/transaction_read_only/) }],
    ['mirror', { database: without(/mirror\./) }],
    ['ledger', { clock: { read: away } }],
    ['workers', { directory: { answering: () => [] } }],
    ['catalog', { catalog: { list: () => [] } }],
    ['program', { readFaults: async () => [{ part: 'program' }] }],
    ['gateway', { readFaults: async () => [{ part: 'gateway' }] }],
    ['signer', { readFaults: async () => [{ part: 'signer' }] }],
    ['fee_payers', { readFaults: async () => [{ part: 'fee_payers' }] }],
  ])(
    'is 503 without the %s, and reveals only the name of that part [surface.health]',
    async (part, parts) => {
      expect(await ask('/ready', parts)).toEqual({
        status: 503,
        body: { status: 'not_ready', parts: { ...ALL_OK, [part]: 'away' } },
      });
    },
  );

  it('is 503 exactly while the database is read-only, as a standby is', async () => {
    const test = await createTestDatabase();
    const database = createPool({ ...test, applicationName: 'test', max: 1 });
    // The server behind this connection only reads; the next connection leads to one that writes.
    await database.query('set default_transaction_read_only = on');
    const { status, body } = await ask('/ready', { database, timeoutMs: FAR_MS });
    expect([status, body]).toMatchObject([503, { parts: { database: 'away' } }]);
    await app?.close();

    const later = await ask('/ready', { database, timeoutMs: FAR_MS });
    expect(later).toMatchObject({ status: 200, body: { parts: { database: 'ok' } } });
    await database.end();
    await test.close();
  });

  it('does not wait for a part that never answers', async () => {
    const read = () => new Promise<never>(() => undefined);
    const { status, body } = await ask('/ready', { clock: { read } });
    expect([status, body]).toMatchObject([503, { parts: { ledger: 'away' } }]);
  });

  it('checks the parts once a second, however often it is called', async () => {
    let reads = 0;
    let now = 0;
    const clock = {
      async read() {
        reads += 1;
      },
    };
    await ask('/ready', { clock, time: timeAt(() => now) });
    const again = () => fetch(`${app?.url}/ready`);

    now = 1_000;
    await Promise.all([again(), again()]);
    expect(reads).toBe(1);
    now = 1_001;
    await again();
    expect(reads).toBe(2);
  });
});
