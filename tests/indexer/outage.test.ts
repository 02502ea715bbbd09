import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../support/childProcess.ts';
import { runIndexer, startIndexer } from './indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from './mirrorDatabase.ts';
import { createScene, type Scene } from './scene.ts';
import { until } from './until.ts';

/** What the node in front of the ledger does with a request. */
type Mood = 'passes on' | 'is overloaded' | 'refuses';

let scene: Scene;
let mirror: MirrorDatabase;
let rpcUrl: string;
let indexer: StartedProcess;
let mood: Mood = 'passes on';
let refused = 0;

const node = createServer(async (request, response) => {
  const body = await new Response(request as never).text();
  if (mood === 'is overloaded') {
    refused += 1;
    return void response.writeHead(503).end();
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
  indexer = await startIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl);
});

afterAll(async () => {
  await indexer?.kill();
  node.close();
  await mirror?.close();
  scene?.ledger.close();
});

async function countJobs(): Promise<bigint> {
  const { rows } = await mirror.pool.query<{ count: bigint }>('select count(*) from mirror.jobs');
  return rows[0]?.count ?? 0n;
}

describe('the indexer', () => {
  it('goes on after its node was overloaded', async () => {
    await scene.lock();
    await until(async () => (await countJobs()) === 1n);
    mood = 'is overloaded';
    await scene.lock();
    await until(async () => refused > 2);
    expect(await countJobs()).toBe(1n);
    mood = 'passes on';
    await until(async () => (await countJobs()) === 2n);
  });

  it('goes on after the database has ended its connections', async () => {
    await mirror.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'svc-indexer' and datname = current_database()`,
    );
    await scene.lock();
    await until(async () => (await countJobs()) === 3n);
  });

  it('ends with an error that trying again cannot mend', async () => {
    await indexer.terminate();
    mood = 'refuses';
    expect(await runIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl)).toBe(1);
  });
});
