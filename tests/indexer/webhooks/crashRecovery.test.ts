import { describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../../../testing/childProcess.ts';
import { startIndexer } from '../../../testing/indexer/indexerProcess.ts';
import { atEnd, ownReceiver, ownScene, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { until } from '../../../testing/until.ts';

const ledger = await ownScene();
const scene = await ownWebhookScene();
const receiver = await ownReceiver();
const processes: StartedProcess[] = [];
await scene.addWebhook({
  ...{ url: receiver.url, events: ['job.submitted'] },
  wallet: ledger.service.wallet.publicKey.toBase58(),
});

atEnd(async () => {
  for (const started of processes) await started.kill();
});

async function start(): Promise<StartedProcess> {
  const settings = { SVC_ALLOW_LOOPBACK: 'true', SVC_WEBHOOK_COMMITMENT: 'finalized' };
  const started = await startIndexer(ledger.ledger, scene.databaseUrl, settings);
  processes.push(started);
  return started;
}

/** What happens before an indexer has read the ledger's past belongs to that past. */
async function untilReady({ url }: StartedProcess): Promise<void> {
  await until(async () => (await fetch(new URL('/ready', url))).status === 200);
}

async function commitmentOf(signature: string): Promise<string> {
  const { rows } = await scene.pool.query(
    'select commitment from mirror.transactions where signature = $1',
    [signature],
  );
  return rows[0]?.commitment;
}

describe('an indexer that is killed during a delivery', () => {
  it('loses neither the event nor its number of attempts [events.never-lost]', async () => {
    // Given a receiver that is being asked, of nothing that was before the installation
    await ledger.lock();
    const { connection } = ledger.ledger;
    const installedAt = await connection.getSlot('confirmed');
    await until(async () => (await connection.getSlot('finalized')) > installedAt);
    const commitments: string[] = [];
    receiver.answer = async (_response, { body }) => {
      commitments.push(await commitmentOf(JSON.parse(body).data.escrow_tx));
    };
    const first = await start();
    await untilReady(first);
    const [job] = await ledger.lock();
    await until(async () => commitments.length === 1);
    expect(commitments).toEqual(['finalized']);
    expect(JSON.parse(receiver.received[0]?.body ?? '').data.escrow_pda).toBe(job?.toBase58());
    const { id, event_id } = (await scene.deliveries())[0] as { id: bigint; event_id: string };

    // When the process dies, and another one takes over, however long that takes
    await first.kill();
    receiver.answer = (response) => void response.end();
    const take = 'update service.webhook_deliveries set taken_until = now() + $1::interval';
    await scene.pool.query(take, ['1 hour']);
    const second = await start();
    await untilReady(second);
    await scene.pool.query(
      `update service.webhook_deliveries set due_at = now() - interval '11 seconds';
       update service.webhook_attempts set started_at = now() - interval '11 seconds'`,
    );
    await scene.pool.query(take, ['-1 second']);
    await until(async () => (await scene.attempts(id))[0]?.error === 'interrupted');

    // Then the attempt has counted, and the next one waits as long as after any other
    expect(receiver.received).toHaveLength(1);
    const [delivery] = await scene.deliveries();
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
    // 30 s after the ten that the exchange could have taken.
    const dueInSeconds = await scene.dueInSeconds(id);
    expect(dueInSeconds).toBeGreaterThan(0);
    expect(dueInSeconds).toBeLessThan(40);
    await scene.moveDue(id, 0);
    await until(async () => receiver.received.length === 2);
    const [before, after] = receiver.received;
    expect(after?.headers['svc-event-id']).toBe(event_id);
    expect(after?.headers['svc-delivery-attempt']).toBe('2');
    expect(after?.body).toBe(before?.body);
    await until(async () => (await scene.deliveries())[0]?.status === 'delivered');

    // And dead receivers or late deliveries are no reason to be unready
    const ready = await fetch(new URL('/ready', second.url));
    expect(ready.status).toBe(200);
    const metrics = await (await fetch(new URL('/metrics', second.url))).text();
    expect(metrics).toContain('svc_webhook_attempts_total{result="delivered"} 1');
    expect(metrics).toMatch(/svc_webhook_overdue_seconds \d/);
  });
});
