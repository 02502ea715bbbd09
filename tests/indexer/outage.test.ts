import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';
import {
  runIndexer,
  startIndexer,
  startIndexerInProcess,
} from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { BATCH_REFUSED } from '../../testing/ledger/ledgerGate.ts';
import { until } from '../../testing/until.ts';

/** What the node in front of the ledger does with a request. */
type Mood = 'passes on' | 'fails' | 'refuses' | 'is silent';

let scene: Scene;
let mirror: MirrorDatabase;
let databaseGate: DatabaseGate;
let rpcUrl: string;
let indexer: StartedProcess;
let mood: Mood = 'passes on';
/** How it fails. */
let failure = { status: 503, body: '' };
let refused = 0;
/** What it was asked while it was silent. */
const unanswered = new Set<string>();
/** A node that is silent for so long is taken for dead. */
const SILENCE_MS_MAX = 10_000;

const node = createServer(async (request, response) => {
  const body = await new Response(request as never).text();
  if (body.startsWith('[')) return void response.end(JSON.stringify(BATCH_REFUSED));
  if (mood === 'is silent') return void unanswered.add(JSON.parse(body).method);
  if (mood === 'fails') {
    refused += 1;
    return void response.writeHead(failure.status).end(failure.body);
  }
  if (mood === 'refuses') {
    const error = { code: -32601, message: 'Method not found' };
    return void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
  }
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(scene.ledger.rpcUrl, { method: 'POST', headers, body });
  response.writeHead(answer.status, headers).end(await answer.text());
});

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  rpcUrl = `http://127.0.0.1:${port}`;
  databaseGate = await startDatabaseGate(mirror.databaseUrl);
  indexer = await startIndexer({ ...scene.ledger, rpcUrl }, databaseGate.databaseUrl);
});

afterAll(async () => {
  await indexer?.kill();
  node.closeAllConnections();
  node.close();
  await databaseGate?.close();
  await mirror?.close();
  await scene?.ledger.close();
});

async function countJobs({ pool } = mirror): Promise<bigint> {
  const { rows } = await pool.query<{ count: bigint }>('select count(*) from mirror.jobs');
  return rows[0]?.count ?? 0n;
}

/** Whether the webhook queue has a connection that listens, and another one that takes attempts. */
async function hasQueueSessions({ pool }: MirrorDatabase): Promise<boolean> {
  const { rows } = await pool.query<{ listens: boolean }>(
    `select query ilike '%listen%' as listens from pg_stat_activity
     where application_name = 'svc-webhooks' and datname = current_database()`,
  );
  return rows.some(({ listens }) => listens) && rows.some(({ listens }) => !listens);
}

async function isReady(): Promise<boolean> {
  return (await fetch(new URL('/ready', indexer.url))).ok;
}

describe('an indexer', () => {
  it('resumes after its connections died silently, with its webhook queue', async () => {
    const own = await createMirrorDatabase();
    const gate = await startDatabaseGate(own.databaseUrl);
    const limits = { queryMs: 300, listenProbeMs: 100 };
    const silenced = await startIndexerInProcess(scene.ledger, gate.databaseUrl, {}, limits);
    await until(() => hasQueueSessions(own));
    const before = await countJobs(own);
    gate.stallConnections();
    await scene.lock();
    await until(async () => (await countJobs(own)) === before + 1n);
    await until(() => hasQueueSessions(own));
    await silenced.terminate();
    await gate.close();
    await own.close();
  });
});

describe('a running indexer', () => {
  it.each([
    ['was overloaded', 503, ''],
    ['was replaced by a page of HTML', 200, '<html>Back soon</html>'],
    ['refused its key', 403, '{"message": "Forbidden"}'],
    ['was too slow for a proxy', 408, ''],
    ['had lost its history', 200, '{"error": {"code": -32011, "message": "no history"}}'],
    ['had no more requests left', 200, '{"error": {"code": 429, "message": "limit"}}'],
  ])(
    'is unready while its node answers wrongly, then resumes (the node %s)',
    async (_name, status, body) => {
      const before = await countJobs();
      await scene.lock();
      await until(async () => (await countJobs()) === before + 1n);
      await until(isReady);
      failure = { status, body };
      mood = 'fails';
      refused = 0;
      await scene.lock();
      await until(async () => refused > 2 && !(await isReady()));
      expect(await countJobs()).toBe(before + 1n);
      mood = 'passes on';
      await until(async () => (await countJobs()) === before + 2n);
      await until(isReady);
    },
  );

  it('resumes after the database has closed its connections', async () => {
    await mirror.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'svc-indexer' and datname = current_database()`,
    );
    const before = await countJobs();
    await scene.lock();
    await until(async () => (await countJobs()) === before + 1n);
  });

  it('exits at once while its node does not answer', async () => {
    await until(isReady);
    mood = 'is silent';
    await until(async () => unanswered.has('getSlot'));
    const startMs = performance.now();
    expect(await indexer.terminate()).toBe(0);
    // It does not wait for the answer, which it would give up only then.
    expect(performance.now() - startMs).toBeLessThan(SILENCE_MS_MAX * 0.9);
  });

  it('exits with an error that a retry cannot mend', async () => {
    mood = 'refuses';
    expect(await runIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl)).toBe(1);
  });
});
