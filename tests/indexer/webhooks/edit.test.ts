import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createWebhooks } from '../../../api/account/webhooks.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { createSealing } from '../../../common/sealing.ts';
import { type ClaimedAttempt, claimDue } from '../../../indexer/webhooks/deliver/claim.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { ownReceiver, ownWebhookScene } from '../../../testing/indexer/own.ts';
import { type Receiver, refuse } from '../../../testing/indexer/receiver.ts';
import { WALLET } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { spendBudget } from '../../../webhookOperations/budget.ts';
import { editWebhook, type WebhookChange } from '../../../webhookOperations/editWebhook.ts';
import { replayDeliveries } from '../../../webhookOperations/replays.ts';
import { rotateSecret } from '../../../webhookOperations/secrets.ts';
import { sendTestEvent } from '../../../webhookOperations/sendTest.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  type WebhookKey,
  WebhookNotFoundError,
} from '../../../webhookOperations/webhooks.ts';
import { countWaiting, whileLocked } from './whileLocked.ts';

const BUDGET = { perMinute: 3 };
const sealing = createSealing(Buffer.from(SECRETS_KEY, 'base64'));

const scene = await ownWebhookScene();
/** Where the webhook's events went, and where they go after the edit. */
const old = await ownReceiver();
const moved = await ownReceiver();
let webhook: WebhookKey;

beforeEach(async () => {
  webhook = { id: await scene.addWebhook({ url: old.url }), wallet: WALLET };
});

const edit = (change: WebhookChange, key = webhook) => editWebhook(scene.pool, key, change);
const move = () => edit({ url: moved.url });

/** Top-ups of the wallet. @returns the ids of their deliveries */
async function announce(count = 1): Promise<bigint[]> {
  const before = (await scene.deliveries()).length;
  for (let available = 1; available <= count; available += 1) {
    await scene.announce([bought({ credits: 1, available })]);
  }
  return (await scene.deliveries()).slice(before).map(({ id }) => id);
}

const statuses = async () =>
  (await scene.deliveries()).map(({ status, attempts }) => [status, attempts]);
const attemptsSeen = ({ received }: Receiver) =>
  received.map(({ headers }) => Number(headers['svc-delivery-attempt']));

/** Makes what is due, with an edit while the old url has the request. */
async function attemptDuringMove(answer: (response: ServerResponse) => void): Promise<void> {
  old.answer = (response) => void move().then(() => answer(response));
  expect(await scene.attemptDue()).toHaveLength(1);
}

const lockRow = (client: pg.PoolClient) =>
  client.query('select from service.webhooks where id = $1 for no key update', [webhook.id]);
const lockWallet = (client: pg.PoolClient) =>
  client.query(`select pg_advisory_xact_lock(hashtextextended('webhooks ' || $1, 0))`, [WALLET]);

describe('an edit of a webhook', () => {
  it('changes its url and events alone, and for its wallet alone', async () => {
    const read = async () => {
      const { rows } = await scene.pool.query('select * from service.webhooks');
      return rows;
    };
    const [before] = await read();
    await edit({ url: moved.url, events: ['job.failed', 'credit.low'] });
    expect(await read()).toEqual([
      { ...before, url: moved.url, events: ['credit.low', 'job.failed'] },
    ]);
    await edit({ events: ['credit.low'] });
    expect(await read()).toEqual([{ ...before, url: moved.url, events: ['credit.low'] }]);
    const stranger = { ...webhook, wallet: 'a stranger' };
    await expect(edit({ url: old.url }, stranger)).rejects.toThrow(WebhookNotFoundError);
  });

  it('sends what is pending to the new url from its next attempt on', async () => {
    const [first, second] = (await announce(2)) as [bigint, bigint];
    old.answer = refuse;
    await scene.attemptDue();
    await scene.moveDue(first, 0);
    await move();
    await scene.attemptDue();

    expect([attemptsSeen(old), attemptsSeen(moved)]).toEqual([[1, 1], [2]]);
    expect(await statuses()).toEqual([
      ['delivered', 2],
      ['pending', 1],
    ]);
    expect(Math.round((await scene.dueInSeconds(second)) / 10)).toBe(3);
  });

  it.each(['failed', 'disabled'] as const)(
    'makes one that is %s active, whose events stay undelivered',
    async (status) => {
      await scene.pool.query('update service.webhooks set status = $1', [status]);
      await announce(2);
      await move();
      expect(await scene.attemptDue()).toEqual([]);
      expect(await statuses()).toEqual([
        ['undelivered', 0],
        ['undelivered', 0],
      ]);
      await announce();
      await scene.attemptDue();
      expect(await scene.webhookStatus(webhook.id)).toBe('active');
      expect(await replayDeliveries(scene.pool, { webhook })).toBe(2);
      await scene.attemptDue();
      expect([old.received.length, moved.received.length]).toEqual([0, 3]);
    },
  );

  it('announces no kind that it removed, and sends what waits of it', async () => {
    await announce();
    await edit({ url: moved.url, events: ['credit.low'] });
    await announce();
    await scene.attemptDue();
    expect(moved.received.map(({ body }) => JSON.parse(body).event)).toEqual(['credit.topup']);
    expect(await statuses()).toEqual([['delivered', 1]]);
  });

  it('is refused where another webhook has this url and these events', async () => {
    const other = await scene.addWebhook({ url: moved.url, events: ['credit.low'] });
    await move();
    await expect(edit({ events: ['credit.low'] })).rejects.toMatchObject({ webhookId: other });
    expect((await listWebhooks(scene.pool, WALLET))[0]).toMatchObject({ events: ['credit.topup'] });
    await move();
  });
});

describe('an attempt that runs during an edit', () => {
  it('delivers its event where the old url accepts it', async () => {
    await announce();
    await attemptDuringMove((response) => void response.end());
    expect(await statuses()).toEqual([['delivered', 1]]);
    expect(moved.received).toEqual([]);
  });

  it('is followed by the next one at the new url where it fails', async () => {
    const [id] = (await announce()) as [bigint];
    await attemptDuringMove(refuse);
    expect(await statuses()).toEqual([['pending', 1]]);
    await scene.moveDue(id, 0);
    await scene.attemptDue();
    expect(attemptsSeen(moved)).toEqual([2]);
    const { rows } = await scene.pool.query('select url from service.webhook_attempts order by 1');
    expect(new Set(rows.map(({ url }) => url))).toEqual(new Set([old.url, moved.url]));
  });

  it('gives its event up after the fifth, and not the webhook', async () => {
    await announce();
    await scene.pool.query('update service.webhook_deliveries set attempts = 4');
    await attemptDuringMove(refuse);
    expect(await statuses()).toEqual([['failed', 5]]);
    expect(await scene.webhookStatus(webhook.id)).toBe('active');
    await replayDeliveries(scene.pool, { webhook });
    await scene.attemptDue();
    expect(attemptsSeen(moved)).toEqual([6]);
  });

  it('says nothing of a new url that has failed since', async () => {
    await announce();
    await attemptDuringMove((response) => {
      const fail = `update service.webhooks set status = 'failed'`;
      void scene.pool.query(fail).then(() => response.end());
    });
    expect(await statuses()).toEqual([['delivered', 1]]);
    expect(await scene.webhookStatus(webhook.id)).toBe('failed');
  });

  it('goes to the new url where it was claimed and not sent', async () => {
    await announce();
    const turn = { max: 1, webhookMax: 1, exceptWallets: [] };
    const [claimed] = (await claimDue(scene.pool, turn)) as [ClaimedAttempt];
    await move();
    await scene.makeAttempt(claimed);
    expect([attemptsSeen(old), attemptsSeen(moved)]).toEqual([[], [1]]);
    expect(await statuses()).toEqual([['delivered', 1]]);
  });
});

describe('an edit beside another change', () => {
  it('passes no event over that is announced before its end', async () => {
    const url = 'https://b.example.com/';
    await sendTestEvent(scene.pool, webhook);
    const { editing } = await inTransaction(scene.pool, async (client) => {
      const budgetOf = (host: string) => `hashtextextended('requested host ${host}', 0)`;
      await client.query(`select pg_advisory_xact_lock(${budgetOf('b.example.com')})`);
      const begun = editWebhook(scene.pool, webhook, { url }, BUDGET);
      // It has changed the row, and waits for the budget of the new host.
      await until(async () => (await countWaiting(scene.pool)) === 1);
      await announce();
      return { editing: begun };
    });
    await editing;
    expect((await scene.deliveries()).map(({ event }) => event)).toEqual([
      ...['webhook.test', 'credit.topup'],
    ]);
  });

  it('keeps what each of two edits at once changes', async () => {
    await whileLocked(scene.pool, lockWallet, move, () => edit({ events: ['credit.low'] }));
    expect(await listWebhooks(scene.pool, WALLET)).toMatchObject([
      { url: moved.url, events: ['credit.low'] },
    ]);
  });

  it('gives one of two webhooks at once the same url', async () => {
    const other = { ...webhook, id: await scene.addWebhook({ url: `${old.url}/other` }) };
    const moveOther = () => edit({ url: moved.url }, other);
    const results = await whileLocked(scene.pool, lockWallet, move, moveOther);
    expect(results).toMatchObject([{ status: 'fulfilled' }, { reason: { webhookId: webhook.id } }]);
  });

  it('does not keep a webhook that is being deleted', async () => {
    const [id] = await announce(2);
    const service = createWebhooks({
      ...{ pool: scene.pool, sealing, resolve: async () => [], allowLoopback: true },
    });
    // The deletion passes over it, and waits for it at its end.
    const hold = 'select from service.webhook_deliveries where id = $1 for update';
    const results = await whileLocked(
      scene.pool,
      (client) => client.query(hold, [id]),
      () => service.remove(WALLET, webhook.id),
      move,
    );
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { reason: expect.any(WebhookNotFoundError) },
    ]);
    expect(await scene.deliveries()).toEqual([]);
  });

  it('keeps a new secret, and the rotation keeps the new url', async () => {
    await announce();
    const rotate = () => rotateSecret(scene.pool, sealing, webhook);
    const results = await whileLocked(scene.pool, lockRow, rotate, move);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    await scene.attemptDue();
    expect(moved.received[0]?.headers).toHaveProperty('svc-signature-previous');

    await whileLocked(scene.pool, lockRow, () => edit({ url: old.url }), rotate);
    await announce();
    await scene.attemptDue();
    expect(old.received).toHaveLength(1);
  });

  it('leaves the state that its owner gives the webhook last', async () => {
    await whileLocked(scene.pool, lockRow, move, () => disableWebhook(scene.pool, webhook));
    expect(await scene.webhookStatus(webhook.id)).toBe('disabled');
    await whileLocked(scene.pool, lockRow, () => enableWebhook(scene.pool, webhook), move);
    expect(await scene.webhookStatus(webhook.id)).toBe('active');
  });
});

describe('what was requested before an edit', () => {
  const request = async (count: number) => {
    for (let number = 0; number < count; number += 1) await sendTestEvent(scene.pool, webhook);
  };
  const editTo = (url: string) => editWebhook(scene.pool, webhook, { url }, BUDGET);

  it('goes to another host within its budget, and the rest is kept', async () => {
    await request(5);
    await editTo('https://b.example.com/');
    expect((await statuses()).map(([status]) => status)).toEqual([
      ...['pending', 'pending', 'pending', 'undelivered', 'undelivered'],
    ]);
    const spent = inTransaction(scene.pool, (client) =>
      spendBudget(client, BUDGET, { wallet: 'another', urls: ['https://b.example.com/c'] }),
    );
    await expect(spent).rejects.toThrow('At most 3');
  });

  it('goes to another path of its host as it was requested', async () => {
    await request(5);
    await editTo(`${old.url}/other`);
    expect(await scene.attemptDue()).toHaveLength(5);
  });

  it('is no matter of what the ledger’s events have pending', async () => {
    await announce(5);
    await editTo('https://b.example.com/');
    expect((await statuses()).map(([status]) => status)).toEqual(Array(5).fill('pending'));
  });
});
