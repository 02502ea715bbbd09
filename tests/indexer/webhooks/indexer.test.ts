import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startIndexerInProcess } from '../../../testing/indexer/indexerProcess.ts';
import type { TestIndexer } from '../../../testing/indexer/inProcessIndexer.ts';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';

let ledger: Scene;
let scene: WebhookScene;
let receiver: Receiver;
let indexer: TestIndexer | undefined;

beforeAll(async () => {
  ledger = await createScene();
  scene = await createWebhookScene();
  receiver = await startReceiver();
  await scene.addWebhook({
    ...{ url: receiver.url, events: ['job.submitted'] },
    wallet: ledger.service.wallet.publicKey.toBase58(),
  });
});

afterAll(async () => {
  await indexer?.terminate();
  await receiver?.close();
  await scene?.close();
  await ledger?.ledger.close();
});

async function start(settings: Record<string, string> = {}): Promise<TestIndexer> {
  indexer = await startIndexerInProcess(
    ledger.ledger,
    scene.databaseUrl,
    { SVC_ALLOW_LOOPBACK: 'true', ...settings },
    { settleIntervalMs: 50 },
  );
  return indexer;
}

async function finalSlot(): Promise<number> {
  return ledger.ledger.connection.getSlot('finalized');
}

const announcedJobs = () =>
  receiver.received.map(({ body }) => JSON.parse(body).data.escrow_pda as string);

describe('an indexer', () => {
  it('announces nothing that is older than its installation', async () => {
    await ledger.lock();
    const before = await ledger.ledger.connection.getSlot('confirmed');
    await until(async () => (await finalSlot()) > before);
    const started = await start();
    await until(async () => {
      const { rows } = await scene.pool.query('select count(*)::integer from mirror.jobs');
      return rows[0]?.count === 1;
    });
    const [job] = await ledger.lock();
    await until(async () => receiver.received.length === 1);
    expect(announcedJobs()).toEqual([job?.toBase58()]);
    expect(await started.terminate()).toBe(0);
  });

  it('resumes announcing where it stopped', async () => {
    receiver.received.length = 0;
    const [missed] = await ledger.lock();
    const started = await start();
    await until(async () => receiver.received.length === 1);
    const [next] = await ledger.lock();
    await until(async () => receiver.received.length === 2);
    expect(announcedJobs()).toEqual([missed?.toBase58(), next?.toBase58()]);
    expect(await started.terminate()).toBe(0);
  });

  it('waits for a transaction to be final when configured so', async () => {
    receiver.received.length = 0;
    await start({ SVC_WEBHOOK_COMMITMENT: 'finalized' });
    const commitments: string[] = [];
    receiver.answer = async (response, { body }) => {
      const { rows } = await scene.pool.query(
        'select commitment from mirror.transactions where signature = $1',
        [JSON.parse(body).data.escrow_tx],
      );
      commitments.push(rows[0]?.commitment);
      response.end();
    };
    const [job] = await ledger.lock();
    await until(async () => commitments.length === 1);
    expect(announcedJobs()).toEqual([job?.toBase58()]);
    expect(commitments).toEqual(['finalized']);
  });
});
