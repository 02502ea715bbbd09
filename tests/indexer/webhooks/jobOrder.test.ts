import { afterEach, describe, expect, it } from '@jest/globals';
import { clearMirror } from '../../../indexer/sql/digest.ts';
import { ownReceiver, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { buy, openWallet } from '../../../testing/indexer/program/credit.ts';
import { acknowledge, lock, prove } from '../../../testing/indexer/program/job.ts';
import { settle } from '../../../testing/indexer/program/jobEnd.ts';
import { registerWorker } from '../../../testing/indexer/program/worker.ts';
import { until } from '../../../testing/until.ts';
import type { EventKind } from '../../../webhooks/events.ts';
import { createChance } from '../simulator/chance.ts';
import { show } from '../simulator/ledger/landed.ts';
import { createSimulatedLedger } from '../simulator/ledger/simulatedLedger.ts';

const KINDS: EventKind[] = ['job.submitted', 'job.processing', 'job.completed'];
const [wallet, worker] = ['a wallet', 'a worker'];
const paid = { worker: true, treasury: true };

const scene = await ownWebhookScene();
const receiver = await ownReceiver();

afterEach(() => clearMirror(scene.pool));

/** Two jobs, as quick answers travel: everything in one transaction. */
async function announce(): Promise<void> {
  const ledger = createSimulatedLedger(createChance(1, 'ledger'));
  ledger.land([openWallet(wallet), buy(wallet, 100n), registerWorker(worker)]);
  ledger.land(
    ['a'.repeat(32), 'b'.repeat(32)].flatMap((id) => [
      ...[lock(id, wallet), acknowledge(id, worker), prove(id), settle(id, paid)],
    ]),
  );
  await scene.addWebhook({ url: receiver.url, wallet, events: KINDS });
  await scene.applyAndAnnounce(ledger.transactions.map(show));
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
