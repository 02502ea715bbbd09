import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IndexerHealth } from '../../indexer/indexer.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { startDatabaseGate } from '../../testing/database/databaseGate.ts';
import {
  runIndexer,
  startIndexer,
  startIndexerInProcess,
} from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { atEnd, ownMirror, ownScene } from '../../testing/indexer/own.ts';
import {
  type LedgerGate,
  nodeUnavailable,
  startLedgerGate,
} from '../../testing/ledger/ledgerGate.ts';
import { until } from '../../testing/until.ts';

/** Far more than a stall of the machine makes: a scene's slot is 5 ms. */
const LAG_SLOTS_MAX = 20_000;
/** A node that is silent for so long is taken for dead. */
const SILENCE_MS_MAX = 10_000;

const scene = await ownScene();
const mirror = await ownMirror();
/** Stands between the indexer and the ledger. */
let node: LedgerGate;
let indexer: StartedProcess;

beforeAll(async () => {
  node = await startLedgerGate(scene.ledger.rpcUrl);
  indexer = await startIndexer(throughGate(), mirror.databaseUrl, {
    SVC_RECONCILE_INTERVAL_SECONDS: '0.1',
    INDEXER_LAG_SLOTS_MAX: String(LAG_SLOTS_MAX),
  });
});

atEnd(async () => {
  await indexer?.kill();
  await node?.close();
});

const throughGate = () => ({ ...scene.ledger, rpcUrl: node.url });

/** Makes the node answer this method so, and every other one as ever. */
function answer(method: string, answered: object): void {
  node.intercept(async (request, forward) =>
    request.method === method ? { jsonrpc: '2.0', id: request.id, ...answered } : forward(request),
  );
}

type Readiness = IndexerHealth & { status: number };

/** The first answer that says so. A slow node may end the readiness again before a second is asked. */
async function untilReady(isReady: boolean): Promise<Readiness> {
  let found: Readiness | undefined;
  await until(async () => {
    const response = await fetch(new URL('/ready', indexer.url));
    found = { status: response.status, ...((await response.json()) as IndexerHealth) };
    return found.isReady === isReady;
  });
  return found as Readiness;
}

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(new URL('/metrics', indexer.url))).text();
  return text.split('\n').find((line) => line.startsWith(name));
}

async function countJobs({ pool } = mirror): Promise<number> {
  return (await pool.query('select from mirror.jobs')).rowCount ?? 0;
}

/** Whether the webhook queue has a connection that listens, and another one that takes attempts. */
async function hasQueueSessions({ pool }: MirrorDatabase): Promise<boolean> {
  const { rows } = await pool.query<{ listens: boolean }>(
    `select query ilike '%listen%' as listens from pg_stat_activity
     where application_name = 'svc-webhooks' and datname = current_database()`,
  );
  return rows.some(({ listens }) => listens) && rows.some(({ listens }) => !listens);
}

describe('an indexer with a key of Helius', () => {
  it('asks for the history, and does without where there is none', async () => {
    // Far enough that its own list is long.
    await scene.wait(3_600);
    const own = await createMirrorDatabase();
    const asked = Promise.withResolvers<void>();
    node.intercept((request, forward) => {
      if (request.method === 'getTransactionsForAddress') asked.resolve();
      return forward(request);
    });
    const settings = { HELIUS_API_KEY: 'a key' };
    const started = await startIndexerInProcess(throughGate(), own.databaseUrl, settings);
    await asked.promise;
    const { length } = await scene.read();
    await until(async () => {
      const { rowCount } = await own.pool.query('select from mirror.transactions');
      return rowCount === length;
    });
    node.open();
    await started.terminate();
    await own.close();
  });
});

describe('an indexer whose connections died silently', () => {
  it('resumes, with its webhook queue', async () => {
    const own = await createMirrorDatabase();
    const gate = await startDatabaseGate(own.databaseUrl);
    const limits = { queryMs: 300, listenProbeMs: 100 };
    const silenced = await startIndexerInProcess(scene.ledger, gate.databaseUrl, {}, limits);
    await until(() => hasQueueSessions(own));
    const before = await countJobs(own);
    gate.stallConnections();
    await scene.lock();
    await until(async () => (await countJobs(own)) === before + 1);
    await until(() => hasQueueSessions(own));
    await silenced.terminate();
    await gate.close();
    await own.close();
  });
});

describe("an indexer's readiness", () => {
  it('begins with the first sweep', async () => {
    const { status, role, lag } = await untilReady(true);
    expect({ status, role }).toEqual({ status: 200, role: 'leader' });
    expect(lag?.slots).toBeLessThanOrEqual(LAG_SLOTS_MAX);
    expect(await metric('svc_indexer_lag_slots ')).toMatch(/ \d+$/);
    expect(await metric('svc_indexer_lag_seconds ')).toMatch(/ [\d.]+$/);
    expect(await metric('svc_indexer_role{role="leader"}')).toMatch(/ 1$/);
    await until(async () =>
      / 0$/.test((await metric('svc_keeper_due_tasks{duty="job_refund"}')) ?? ''),
    );
  });

  it('ends after three breaches in a row, and returns with a clean run', async () => {
    await until(async () => (await countJobs()) === 1);
    await mirror.pool.query('update credit_accounts set owed_credits = 5');
    expect((await untilReady(false)).reconcileBreaches).toBeGreaterThanOrEqual(3);
    const breaches = await metric('svc_indexer_reconciliations_total{result="breach"}');
    expect(breaches).toMatch(/ ([3-9]|\d\d+)$/);
    expect(await metric('svc_indexer_reconcile_differences ')).toMatch(/ 2$/);
    await mirror.pool.query('update credit_accounts set owed_credits = 0');
    expect((await untilReady(true)).reconcileBreaches).toBe(0);
  });

  it('ends while the lag exceeds its limit, and returns', async () => {
    answer('getSlot', { result: 1_000_000_000 });
    const { status, lag } = await untilReady(false);
    expect(status).toBe(503);
    expect(lag?.slots).toBeGreaterThan(LAG_SLOTS_MAX);
    node.open();
    await untilReady(true);
  });

  it('ends while its node is away, and what happened is found afterwards', async () => {
    node.intercept(nodeUnavailable);
    await scene.lock();
    await untilReady(false);
    expect(await countJobs()).toBe(1);
    node.open();
    await until(async () => (await countJobs()) === 2);
    await untilReady(true);
  });
});

describe('an indexer ends', () => {
  it('at once while its node does not answer', async () => {
    const asked = Promise.withResolvers<void>();
    node.intercept(({ method }) => {
      if (method === 'getSlot') asked.resolve();
      return new Promise(() => {});
    });
    await asked.promise;
    const startMs = performance.now();
    expect(await indexer.terminate()).toBe(0);
    // It does not wait for the answer, which it would give up only then.
    expect(performance.now() - startMs).toBeLessThan(SILENCE_MS_MAX * 0.9);
  });

  it.each([
    ['does not know a method', 'getSlot', { error: { code: -32_601, message: 'not found' } }],
    [
      'is of another ledger than the mirror',
      'getGenesisHash',
      { result: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' },
    ],
  ])('with an error when the node %s', async (_what, method, answered) => {
    answer(method, answered);
    expect(await runIndexer(throughGate(), mirror.databaseUrl)).toBe(1);
  });
});
