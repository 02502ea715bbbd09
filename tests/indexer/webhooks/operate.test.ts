import { beforeEach, describe, expect, it } from '@jest/globals';
import { createWebhooks } from '../../../api/account/webhooks.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { createSealing } from '../../../common/sealing.ts';
import { deleteOldDeliveries } from '../../../indexer/background/expiredRows.ts';
import { type ClaimedAttempt, claimDue } from '../../../indexer/webhooks/deliver/claim.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { ownReceiver, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { refuse } from '../../../testing/indexer/receiver.ts';
import { WALLET } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { markAllUndelivered } from '../../../webhookOperations/markUndelivered.ts';
import { replayDeliveries, replayDelivery } from '../../../webhookOperations/replays.ts';
import { sendTestEvent } from '../../../webhookOperations/sendTest.ts';
import {
  disableWebhook,
  enableWebhook,
  WebhookDisabledError,
  type WebhookKey,
  WebhookNotFoundError,
} from '../../../webhookOperations/webhooks.ts';

const scene = await ownWebhookScene();
const receiver = await ownReceiver();
let webhookId: string;
let webhook: WebhookKey;

beforeEach(async () => {
  webhookId = await scene.addWebhook({ url: receiver.url });
  webhook = { id: webhookId, wallet: WALLET };
});

async function announce(count: number): Promise<void> {
  for (let available = 1; available <= count; available += 1) {
    const event = bought({ credits: 1, available });
    const unixTime = `${1_790_000_000 + available}`;
    await scene.announce([{ ...event, data: { ...event.data, unixTime } } as typeof event]);
  }
}

/** Deliveries that were made a month ago. */
async function addOld(count: number): Promise<void> {
  await scene.pool.query(
    `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
       status, stored_at)
     select $1, 'evt_' || number, 'credit.topup', now(), '{}', 'delivered',
       now() - interval '31 days'
     from generate_series(1, $2) number`,
    [webhookId, count],
  );
}

async function statuses(): Promise<[string, number][]> {
  return (await scene.deliveries()).map(({ status, attempts }) => [status, attempts]);
}

/** Announces events to a receiver that refuses the first of them five times. */
async function failFirstOf(count: number): Promise<bigint> {
  await announce(1);
  const { id } = (await scene.deliveries())[0] as { id: bigint };
  receiver.answer = refuse;
  await scene.attemptDue();
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    await scene.moveDue(id, 0);
    await scene.attemptDue();
  }
  await announce(count - 1);
  receiver.received.length = 0;
  receiver.answer = (response) => void response.end();
  return id;
}

const sentAttempts = () =>
  receiver.received.map(({ headers }) => Number(headers['svc-delivery-attempt']));

describe('a replay', () => {
  it('sends failed and kept events in order and reactivates the webhook [events.failed]', async () => {
    await failFirstOf(4);
    expect(await statuses()).toEqual([
      ['failed', 5],
      ['undelivered', 0],
      ['undelivered', 0],
      ['undelivered', 0],
    ]);
    expect(await scene.webhookStatus(webhookId)).toBe('failed');
    expect(await replayDeliveries(scene.pool, { webhook })).toBe(4);
    await scene.attemptDue();

    expect(sentAttempts()).toEqual([6, 1, 1, 1]);
    const ids = (await scene.deliveries()).map(({ event_id }) => event_id);
    expect(receiver.received.map(({ headers }) => headers['svc-event-id'])).toEqual(ids);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
    expect(await replayDeliveries(scene.pool, { webhook })).toBe(0);
  });

  it('sends only those of a time range', async () => {
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    await announce(4);
    const at = (second: number) => new Date((1_790_000_000 + second) * 1_000);
    expect(await replayDeliveries(scene.pool, { webhook, since: at(2), until: at(4) })).toBe(2);
    await scene.attemptDue();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.credits_remaining)).toEqual([
      2, 3,
    ]);
  });

  it('retries a delivery with attempts left, although the webhook has failed', async () => {
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    await announce(1);
    receiver.answer = refuse;
    await replayDeliveries(scene.pool, { webhook });
    await scene.attemptDue();
    receiver.answer = (response) => void response.end();
    const [delivery] = await scene.deliveries();
    await scene.moveDue(delivery?.id as bigint, 0);
    await scene.attemptDue();
    expect(sentAttempts()).toEqual([1, 2]);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });

  it('does not wait for an attempt that was queued for later', async () => {
    await announce(1);
    receiver.answer = refuse;
    await scene.attemptDue();
    await disableWebhook(scene.pool, webhook);
    await enableWebhook(scene.pool, webhook);
    expect(await statuses()).toEqual([['undelivered', 1]]);
    await replayDeliveries(scene.pool, { webhook });
    await scene.attemptDue();
    expect(sentAttempts()).toEqual([1, 2]);
  });

  it('is refused for disabled webhooks and successful deliveries', async () => {
    await announce(1);
    const one = { webhook, deliveryId: (await scene.deliveries())[0]?.id as bigint };
    await scene.attemptDue();
    await expect(replayDelivery(scene.pool, one)).rejects.toThrow(WebhookNotFoundError);
    await disableWebhook(scene.pool, webhook);
    await expect(replayDelivery(scene.pool, one)).rejects.toThrow(WebhookDisabledError);
  });

  it('makes a single attempt, and its failure leaves the webhook as it is', async () => {
    const id = await failFirstOf(1);
    await enableWebhook(scene.pool, webhook);
    receiver.answer = refuse;
    await replayDelivery(scene.pool, { webhook, deliveryId: id });
    const again = replayDelivery(scene.pool, { webhook, deliveryId: id });
    await expect(again).rejects.toThrow(WebhookNotFoundError);
    await scene.attemptDue();
    expect(await statuses()).toEqual([['failed', 6]]);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });

  it('reaches a webhook that failed after its delivery was taken', async () => {
    await announce(1);
    const turn = { max: 1, webhookMax: 1, exceptWallets: [] };
    const [taken] = (await claimDue(scene.pool, turn)) as [ClaimedAttempt];
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    await inTransaction(scene.pool, (client) => markAllUndelivered(client, webhookId));
    await replayDeliveries(scene.pool, { webhook });
    await scene.makeAttempt(taken);
    expect(await statuses()).toEqual([['delivered', 1]]);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });

  it('is sent although an attempt that began before it fails', async () => {
    await announce(1);
    receiver.answer = async (response) => {
      receiver.answer = (replayed) => void replayed.end();
      await disableWebhook(scene.pool, webhook);
      await enableWebhook(scene.pool, webhook);
      await replayDeliveries(scene.pool, { webhook });
      refuse(response);
    };
    await scene.attemptDue();
    expect(sentAttempts()).toEqual([1, 2]);
    expect(await statuses()).toEqual([['delivered', 2]]);
  });
});

describe('a test event', () => {
  it('is attempted once, and says nothing of its webhook when it fails', async () => {
    receiver.answer = refuse;
    await sendTestEvent(scene.pool, webhook);
    await scene.attemptDue();
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      ...{ event: 'webhook.test', test: true },
      data: { webhook_id: webhookId },
    });
    expect(await statuses()).toEqual([['failed', 1]]);
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });

  it('reactivates a failed webhook when it arrives', async () => {
    await scene.pool.query(`update service.webhooks set status = 'failed'`);
    await sendTestEvent(scene.pool, webhook);
    await scene.attemptDue();
    expect(await scene.webhookStatus(webhookId)).toBe('active');
  });
});

describe('a webhook', () => {
  it('loses its pending deliveries a thousand at a time, and no other’s', async () => {
    const otherId = await scene.addWebhook({ url: `${receiver.url}/other` });
    // Those of one batch are due at one time, and many wait for their transactions to be final.
    await scene.pool.query(
      `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body,
         status, due_at)
       select webhook, 'evt_' || place, 'credit.topup', now(), '{}', 'pending',
         case when place % 2 = 0 then 'infinity' else now() + place / 1000 * interval '1 s' end
       from generate_series(1, 2300) place, unnest($1::text[]) webhook`,
      [[webhookId, otherId]],
    );
    const waiting = async () => {
      const { rows } = await scene.pool.query<{ own: number; others: number }>(
        `select count(*) filter (where webhook_id = $1)::integer as own,
           count(*) filter (where webhook_id <> $1)::integer as others
         from service.webhook_deliveries where status = 'pending'`,
        [webhookId],
      );
      return rows[0];
    };
    const left: unknown[] = [];
    const query = async (text: string, values: unknown[]) => {
      const result = await scene.pool.query(text, values);
      left.push((await waiting())?.own);
      return result;
    };
    await markAllUndelivered({ query } as Parameters<typeof markAllUndelivered>[0], webhookId);
    expect(left).toEqual([1_300, 300, 0, 0]);
    expect(await waiting()).toEqual({ own: 0, others: 2_300 });
  });
});

describe('deliveries', () => {
  it('are kept for 30 days, or until they are made', async () => {
    await announce(3);
    await scene.pool.query(
      `update service.webhook_deliveries set stored_at = now() - interval '31 days'`,
    );
    const [first, second] = await scene.deliveries();
    await scene.pool.query(
      `update service.webhook_deliveries set status = 'delivered', due_at = null where id = any($1)`,
      [[first?.id, second?.id]],
    );
    await scene.pool.query(
      `update service.webhook_deliveries set stored_at = now() - interval '29 days' where id = $1`,
      [first?.id],
    );
    await deleteOldDeliveries(scene.pool);
    const left = await scene.deliveries();
    expect(left.map(({ id }) => id)).toContain(first?.id);
    expect(left.map(({ id }) => id)).not.toContain(second?.id);
    expect(left).toHaveLength(2);
  });

  it('are deleted a thousand at a time, until the process ends', async () => {
    await addOld(1_500);
    await deleteOldDeliveries(scene.pool, AbortSignal.abort());
    expect(await scene.deliveries()).toHaveLength(500);
  });
});

describe('a webhook during its deletion', () => {
  /** As the mirror's only writer does it, which must not wait. */
  const announceAtOnce = () =>
    inTransaction(scene.pool, async (client) => {
      await client.query(`set local lock_timeout = '500ms'`);
      await scene.outbox.announce(client, [bought({ credits: 5, available: 105 })]);
    });

  it("does not delay the wallet's other webhooks", async () => {
    const kept = await scene.addWebhook({ url: 'https://example.com/kept' });
    await inTransaction(scene.pool, async (deleting) => {
      await deleting.query('delete from service.webhooks where id = $1', [webhookId]);
      await announceAtOnce();
    });
    expect((await scene.deliveries()).map(({ webhook_id }) => webhook_id)).toEqual([kept]);
  });

  it('receives nothing more and loses its queued deliveries at once', async () => {
    // More than are deleted in one statement.
    await addOld(2_500);
    const [busy] = await scene.deliveries();
    const sealing = createSealing(Buffer.from(SECRETS_KEY, 'base64'));
    const webhooks = createWebhooks({
      ...{ pool: scene.pool, sealing, resolve: async () => [], allowLoopback: true },
    });
    const { removal } = await inTransaction(scene.pool, async (attempting) => {
      const hold = 'select from service.webhook_deliveries where id = $1 for update';
      await attempting.query(hold, [busy?.id]);
      const begun = webhooks.remove(WALLET, webhookId);
      await until(async () => (await scene.deliveries()).length === 1);
      expect(await scene.webhookStatus(webhookId)).toBe('disabled');
      await announceAtOnce();
      // Not to be awaited here: it waits for the delivery that is locked.
      return { removal: begun };
    });
    await removal;
    expect(await scene.webhookStatus(webhookId)).toBeUndefined();
    expect(await scene.deliveries()).toEqual([]);
  });
});
