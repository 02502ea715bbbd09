import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startIndexerInProcess } from '../../testing/indexer/indexerProcess.ts';
import type { TestIndexer } from '../../testing/indexer/inProcessIndexer.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { stopClock } from '../../testing/ledger/ledger.ts';
import { type LedgerGate, startLedgerGate } from '../../testing/ledger/ledgerGate.ts';
import { until } from '../../testing/until.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let indexer: TestIndexer;
/** Stands between the indexer and the ledger. */
let node: LedgerGate;

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
  node = await startLedgerGate(scene.ledger.rpcUrl);
  indexer = await startIndexerInProcess({ ...scene.ledger, rpcUrl: node.url }, mirror.databaseUrl);
});

afterAll(async () => {
  await indexer?.terminate();
  await mirror?.close();
  await node?.close();
  await scene?.ledger.close();
});

async function countJobs(condition: string): Promise<number> {
  const { rows } = await mirror.pool.query<{ count: bigint }>(
    `select count(*) from mirror.jobs where ${condition}`,
  );
  return Number(rows[0]?.count);
}

describe('the keeper', () => {
  it("refunds an uncompleted job once it is overdue by the ledger's clock [failures.process-dies]", async () => {
    await stopClock(scene.ledger.connection);
    const jobs = await scene.lock(3);
    await scene.acknowledge(jobs[0] as (typeof jobs)[0]);
    await until(async () => (await countJobs("status = 'pending'")) === 2);
    await scene.wait(119);
    expect(await countJobs("status = 'refunded'")).toBe(0);
    await scene.wait(3);
    await until(async () => (await countJobs("status = 'refunded'")) === 3);
  });

  it('counts a refund as done when another process was faster', async () => {
    const [job] = await scene.lock();
    const refunded = Promise.withResolvers<void>();
    node.intercept(async (request, forward) => {
      if (request.method === 'sendTransaction') await refunded.promise;
      return forward(request);
    });
    await scene.wait(121);
    await scene.refund(job as NonNullable<typeof job>);
    refunded.resolve();
    await until(async () => (await countJobs("status = 'refunded'")) === 4);
    const metrics = await (await fetch(new URL('/metrics', indexer.url))).text();
    expect(metrics).toContain('svc_keeper_duties_total{duty="job_refund",result="done"}');
    expect(metrics).not.toContain('result="refused"');
  });

  it('reclaims the rent of closed jobs', async () => {
    await scene.wait(150);
    await until(async () => (await countJobs('closed')) === 4);
  });

  it('expires undecided disputes and pays what a verdict left owed', async () => {
    const jobs = await scene.lock(4);
    for (const job of jobs) {
      await scene.acknowledge(job);
      await scene.settle(job);
    }
    const [upheld, undecided] = jobs;
    if (!upheld || !undecided) throw new Error('four jobs were locked');
    await scene.dispute(upheld);
    await scene.dispute(undecided);
    await scene.resolve(upheld, 'upheld_gateway');
    await scene.wait(86_401);
    await until(async () => (await countJobs("outcome = 'expired'")) === 1);
    await until(async () => {
      const { rows } = await mirror.pool.query<{ owed_credits: bigint }>(
        'select owed_credits from mirror.credit_accounts',
      );
      return rows[0]?.owed_credits !== 3n;
    });
  });
});
