import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inTransaction } from '../../../common/postgres.ts';
import { createSealing, SealingError } from '../../../common/sealing.ts';
import { deleteOldDeliveries } from '../../../indexer/background/expiredRows.ts';
import { type ClaimedAttempt, claimDue } from '../../../indexer/webhooks/deliver/claim.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { type Receiver, refuse, startReceiver } from '../../../testing/indexer/receiver.ts';
import {
  createWebhookScene,
  SECRET,
  WALLET,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { listDeliveries } from '../../../webhookOperations/deliveries.ts';
import { markAllUndelivered } from '../../../webhookOperations/markUndelivered.ts';
import { replayDeliveries, replayDelivery } from '../../../webhookOperations/replays.ts';
import { rotateSecret } from '../../../webhookOperations/secrets.ts';
import { sendTestEvent } from '../../../webhookOperations/sendTest.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  WebhookDisabledError,
  type WebhookKey,
  WebhookNotFoundError,
} from '../../../webhookOperations/webhooks.ts';
import { contractDigest } from '../../../webhooks/signature.ts';

let scene: WebhookScene;
let receiver: Receiver;
let webhookId: string;
let webhook: WebhookKey;

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterAll(() => scene?.close());

beforeEach(async () => {
  receiver = await startReceiver();
  webhookId = await scene.addWebhook({ url: receiver.url });
  webhook = { id: webhookId, wallet: WALLET };
});

afterEach(async () => {
  await scene.pool.query('delete from service.webhooks');
  await receiver.close();
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
    const range = { webhook, since: at(2), until: at(4) };
    expect(await replayDeliveries(scene.pool, range)).toBe(2);
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

  it('makes a single attempt, and its failure leaves the webhook as it is', async () => {
    const id = await failFirstOf(1);
    await enableWebhook(scene.pool, webhook);
    receiver.answer = refuse;
    await replayDelivery(scene.pool, { webhook, deliveryId: id });
    await scene.attemptDue();
    expect(await statuses()).toEqual([['failed', 6]]);
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

  it('is refused for unknown or disabled webhooks and successful deliveries', async () => {
    await announce(1);
    const { id: deliveryId } = (await scene.deliveries())[0] as { id: bigint };
    const one = { webhook, deliveryId };
    await expect(replayDelivery(scene.pool, one)).rejects.toThrow(WebhookNotFoundError);
    const unknown = replayDeliveries(scene.pool, { webhook: { id: 'wh_0', wallet: WALLET } });
    await expect(unknown).rejects.toThrow(WebhookNotFoundError);
    await disableWebhook(scene.pool, webhook);
    await expect(replayDelivery(scene.pool, one)).rejects.toThrow(WebhookDisabledError);
  });
});

describe('a test event', () => {
  it('has its own kind, is signed as others, and changes nothing on failure', async () => {
    receiver.answer = refuse;
    await sendTestEvent(scene.pool, webhook);
    await scene.attemptDue();
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(JSON.parse(body)).toEqual({
      id: headers['svc-event-id'],
      event: 'webhook.test',
      created_at: expect.any(String),
      api_version: expect.any(String),
      data: { webhook_id: webhookId },
    });
    const [, time = '', digest] = /^t=(\d+),v1=(.*)$/.exec(String(headers['svc-signature'])) ?? [];
    expect(digest).toBe(contractDigest(SECRET, time, body).toString('hex'));
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
  it('receives nothing while it is disabled, and keeps its events', async () => {
    await announce(1);
    await disableWebhook(scene.pool, webhook);
    await announce(1);
    await scene.attemptDue();
    await enableWebhook(scene.pool, webhook);
    await announce(1);
    await scene.attemptDue();
    expect(await statuses()).toEqual([
      ['undelivered', 0],
      ['undelivered', 0],
      ['delivered', 1],
    ]);
    await expect(enableWebhook(scene.pool, { id: 'wh_0', wallet: WALLET })).rejects.toThrow(
      WebhookNotFoundError,
    );
  });

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

  it('is listed with its pending deliveries, and these page by page', async () => {
    await failFirstOf(3);
    expect(await listWebhooks(scene.pool, WALLET)).toMatchObject([
      { id: webhookId, status: 'failed', pending: 0, failed: 1, undelivered: 2 },
    ]);
    const filter = { webhook, statuses: ['failed', 'undelivered'] as const };
    const page = await listDeliveries(scene.pool, filter, { limit: 2 });
    const before = page.at(-1)?.id;
    const rest = await listDeliveries(scene.pool, filter, { limit: 2, before });
    expect([...page, ...rest]).toMatchObject([
      { status: 'undelivered', attempts: 0, error: null },
      { status: 'undelivered', attempts: 0, error: null },
      { status: 'failed', attempts: 5, status_code: 500, error: 'bad_status', response: 'not now' },
    ]);
  });

  it('accepts a new secret from a caller that can read its current one', async () => {
    const sealing = createSealing(Buffer.from(SECRETS_KEY, 'base64'));
    const secret = await rotateSecret(scene.pool, sealing, webhook);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await announce(1);
    await scene.attemptDue();
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    for (const [name, signedWith] of [
      ['svc-signature', secret],
      ['svc-signature-previous', SECRET],
    ] as const) {
      const [, time = '', digest] = /^t=(\d+),v1=(.*)$/.exec(String(headers[name])) ?? [];
      expect(digest).toBe(contractDigest(signedWith, time, body).toString('hex'));
    }
    const stranger = createSealing(Buffer.alloc(32, 8));
    await expect(rotateSecret(scene.pool, stranger, webhook)).rejects.toThrow(SealingError);
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

  it('are all deleted in one run, however many are old', async () => {
    await announce(1);
    await addOld(3_500);
    await deleteOldDeliveries(scene.pool, new AbortController().signal);
    expect(await scene.deliveries()).toHaveLength(1);
  });

  it('are deleted a thousand at a time, until the process ends', async () => {
    await addOld(1_500);
    await deleteOldDeliveries(scene.pool, AbortSignal.abort());
    expect(await scene.deliveries()).toHaveLength(500);
  });

  it('are left to another process that is already deleting them', async () => {
    await addOld(2);
    const [first] = await scene.deliveries();
    await inTransaction(scene.pool, async (other) => {
      await other.query('select from service.webhook_deliveries where id = $1 for update', [
        first?.id,
      ]);
      await deleteOldDeliveries(scene.pool, new AbortController().signal);
    });
    expect((await scene.deliveries()).map(({ id }) => id)).toEqual([first?.id]);
  });
});
