import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import type { LedgerTransaction } from '../../../indexer/fold/event.ts';
import { clearMirror } from '../../../indexer/sql/digest.ts';
import { type Receiver, startReceiver } from '../../../testing/indexer/receiver.ts';
import { createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import type { EventKind } from '../../../webhooks/events.ts';

const KINDS: EventKind[] = ['job.submitted', 'job.processing', 'job.completed'];

let ledger: Scene;
let scene: WebhookScene;
let receiver: Receiver;
let transactions: LedgerTransaction[];

beforeAll(async () => {
  ledger = await createScene();
  const jobs = (await ledger.lock(2)) as [PublicKey, PublicKey];
  for (const job of jobs) {
    await ledger.acknowledge(job);
    await ledger.settle(job);
  }
  // As quick answers travel: everything in one transaction.
  const history = await ledger.read();
  const events = history.flatMap((transaction) => transaction.events);
  const last = history.at(-1) as LedgerTransaction;
  const { signature, slot } = last;
  transactions = [
    {
      ...{ signature, slot },
      events: events.map((event, index) => ({
        ...event,
        ...{ signature, slot, instructionIndex: index, innerIndex: 0 },
      })),
    },
  ];
  scene = await createWebhookScene();
});

afterEach(async () => {
  await receiver?.close();
  await clearMirror(scene.pool);
  await scene.pool.query('delete from service.webhooks');
});

afterAll(async () => {
  await scene?.close();
  await ledger?.ledger.close();
});

async function announce(): Promise<void> {
  receiver = await startReceiver();
  const wallet = ledger.service.wallet.publicKey.toBase58();
  await scene.addWebhook({ url: receiver.url, wallet, events: KINDS });
  await scene.applyAndAnnounce(transactions);
}

/** The kinds that arrived, by job. */
function arrivedKinds(): string[][] {
  const bodies = receiver.received.map(({ body }) => JSON.parse(body));
  return [...Map.groupBy(bodies, ({ data }) => data.job_id).values()].map((events) =>
    events.map(({ event }) => event),
  );
}

describe("a webhook's events of one job", () => {
  it('arrive one after the other, in the order of the ledger', async () => {
    await announce();
    const inFlight = new Map<string, number>();
    let overlaps = 0;
    receiver.answer = (response, { body }) => {
      const { data } = JSON.parse(body);
      const count = (inFlight.get(data.job_id) ?? 0) + 1;
      inFlight.set(data.job_id, count);
      if (count > 1) overlaps += 1;
      setImmediate(() => {
        inFlight.set(data.job_id, count - 1);
        response.end();
      });
    };
    const webhooks = await scene.start();
    await until(async () => receiver.received.length === 6);
    await webhooks.stop();
    expect(arrivedKinds()).toEqual([KINDS, KINDS]);
    expect(overlaps).toBe(0);
  });

  it('wait for the first attempt of the one before, while other jobs go on', async () => {
    await announce();
    const [held] = await scene.deliveries();
    await scene.pool.query(
      `update service.webhook_deliveries set taken_until = now() + interval '60 seconds'
       where id = $1`,
      [held?.id],
    );
    await scene.attemptDue();
    expect(arrivedKinds()).toEqual([KINDS]);
    await scene.pool.query('update service.webhook_deliveries set taken_until = null');
    await scene.attemptDue();
    expect(arrivedKinds()).toEqual([KINDS, KINDS]);
  });

  it('do not wait for the second attempt of one that failed', async () => {
    await announce();
    receiver.answer = (response, { body }) => {
      response.writeHead(JSON.parse(body).event === 'job.submitted' ? 500 : 200).end();
    };
    await scene.attemptDue();
    expect(arrivedKinds()).toEqual([KINDS, KINDS]);
    const statuses = (await scene.deliveries()).map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(2);
    expect(statuses.filter((status) => status === 'delivered')).toHaveLength(4);
  });
});
