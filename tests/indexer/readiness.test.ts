import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IndexerHealth } from '../../indexer/indexer.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { runIndexer, startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { BATCH_REFUSED } from '../../testing/ledger/ledgerGate.ts';
import { until } from '../../testing/until.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let indexer: StartedProcess;
let rpcUrl: string;
/** Far more than a stall of the machine makes: a scene's slot is 5 ms. */
const LAG_SLOTS_MAX = 20_000;
/** What the node says when it is asked these; everything else is passed on to the ledger. */
const answers = new Map<string, unknown>();

const node = createServer(async (request, response) => {
  const body = await new Response(request as never).text();
  if (body.startsWith('[')) return void response.end(JSON.stringify(BATCH_REFUSED));
  const { method, id } = JSON.parse(body) as { method: string; id: unknown };
  const headers = { 'content-type': 'application/json' };
  if (answers.has(method)) {
    const result = answers.get(method);
    return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }
  const answer = await fetch(scene.ledger.rpcUrl, { method: 'POST', headers, body });
  response.writeHead(answer.status, headers).end(await answer.text());
});

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  indexer = await startIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl, {
    SVC_RECONCILE_INTERVAL_SECONDS: '0.1',
    INDEXER_LAG_SLOTS_MAX: String(LAG_SLOTS_MAX),
  });
});

afterAll(async () => {
  await indexer?.kill();
  node.close();
  await mirror?.close();
  await scene?.ledger.close();
});

async function ready(): Promise<IndexerHealth & { status: number }> {
  const response = await fetch(new URL('/ready', indexer.url));
  return { status: response.status, ...((await response.json()) as IndexerHealth) };
}

/** The first answer that says so. A slow node may end the readiness again before a second is asked. */
async function untilReady(isReady: boolean): Promise<IndexerHealth & { status: number }> {
  let answer = await ready();
  await until(async () => {
    answer = await ready();
    return answer.isReady === isReady;
  });
  return answer;
}

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(new URL('/metrics', indexer.url))).text();
  return text.split('\n').find((line) => line.startsWith(name));
}

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
    await scene.lock();
    await until(async () => (await mirror.pool.query('select from jobs')).rowCount === 1);
    await mirror.pool.query('update credit_accounts set owed_credits = 5');
    expect((await untilReady(false)).reconcileBreaches).toBeGreaterThanOrEqual(3);
    const breaches = await metric('svc_indexer_reconciliations_total{result="breach"}');
    expect(breaches).toMatch(/ ([3-9]|\d\d+)$/);
    expect(await metric('svc_indexer_reconcile_differences ')).toMatch(/ 2$/);
    await mirror.pool.query('update credit_accounts set owed_credits = 0');
    expect((await untilReady(true)).reconcileBreaches).toBe(0);
  });

  it('ends while the lag exceeds its limit, and returns', async () => {
    answers.set('getSlot', 1_000_000_000);
    const { status, lag } = await untilReady(false);
    expect(status).toBe(503);
    expect(lag?.slots).toBeGreaterThan(LAG_SLOTS_MAX);
    answers.delete('getSlot');
    await untilReady(true);
  });
});

describe('a mirror', () => {
  it('belongs to one ledger: another ledger’s indexer exits unchanged', async () => {
    await indexer.kill();
    answers.set('getGenesisHash', '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY');
    expect(await runIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl)).toBe(1);
    answers.delete('getGenesisHash');
    indexer = await startIndexer({ ...scene.ledger, rpcUrl }, mirror.databaseUrl);
    await untilReady(true);
  });
});
