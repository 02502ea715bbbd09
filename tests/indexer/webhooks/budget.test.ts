import { describe, expect, it } from '@jest/globals';
import { deleteOldDeliveries } from '../../../indexer/background/expiredRows.ts';
import { ownWebhookScene } from '../../../testing/indexer/own.ts';
import { WALLET } from '../../../testing/indexer/webhookScene.ts';
import { BudgetSpentError, inBudget, spendBudget } from '../../../webhookOperations/budget.ts';
import type { DeliveryFilter } from '../../../webhookOperations/deliveries.ts';
import { replayDeliveries, resendDeliveries } from '../../../webhookOperations/replays.ts';
import { sendTestEvent, triggerEvent } from '../../../webhookOperations/sendTest.ts';

const OTHER = 'another-wallet';
const budget = { perMinute: 3 };
const url = 'https://hooks.example.com/a';

const scene = await ownWebhookScene();

const spend = (wallet: string, urls: readonly string[], perMinute = 3) =>
  inBudget(scene.pool, (client) => spendBudget(client, { perMinute }, { wallet, urls }));

/** What was asked for and stored before, as if so many seconds earlier. */
async function age(seconds: number): Promise<void> {
  for (const [table, column] of [
    ['requested_deliveries', 'requested_at'],
    ['webhook_deliveries', 'stored_at'],
  ]) {
    const earlier = `${column} = ${column} - $1 * interval '1 second'`;
    await scene.pool.query(`update service.${table} set ${earlier}`, [seconds]);
  }
}

/** Deliveries of a webhook that were given up. @returns their ids */
async function addFailed(webhookId: string, count: number): Promise<bigint[]> {
  const { rows } = await scene.pool.query<{ id: bigint }>(
    `insert into service.webhook_deliveries (webhook_id, event_id, event, signature, created_at,
       body, status)
     select $1, 'evt_' || number, 'credit.topup', 'tx', now(), '{}', 'failed'
     from generate_series(1, $2) number returning id`,
    [webhookId, count],
  );
  return rows.map(({ id }) => id);
}

async function pendingIds(): Promise<bigint[]> {
  const deliveries = await scene.deliveries();
  return deliveries.filter(({ status }) => status === 'pending').map(({ id }) => id);
}

describe('the budget of requested deliveries', () => {
  it('is of a wallet, over all hosts', async () => {
    for (const host of ['a', 'b', 'c']) await spend(WALLET, [`https://${host}.example.com/`]);
    const late = spend(WALLET, ['https://d.example.com/']);
    await expect(late).rejects.toMatchObject({ limit: 3, limitOf: 'wallet' });
    await spend(OTHER, ['https://d.example.com/']);
  });

  it.each([
    ['another case and port', 'https://HOOKS.Example.COM:8443/b'],
    ['a last dot', 'https://hooks.example.com./'],
    ['full-width letters', 'https://ｈｏｏｋｓ.example.com/'],
    ['an escaped dot', 'https://hooks%2Eexample.com/'],
  ])('is of a host over all wallets, also with %s', async (_how, other) => {
    for (const wallet of ['one', 'two', 'three']) await spend(wallet, [url]);
    await expect(spend(WALLET, [other])).rejects.toMatchObject({ limit: 3, limitOf: 'host' });
  });

  it('holds when many ask at the same time', async () => {
    const asked = Array.from({ length: 12 }, (_, index) => spend(`wallet ${index}`, [url]));
    const ends = await Promise.allSettled(asked);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  it('says when what was asked for fits, and is right about that', async () => {
    const startMs = performance.now();
    await spend(WALLET, [url]);
    await age(30);
    await spend(WALLET, [url, url]);
    const late = (urls: readonly string[]) => spend(WALLET, urls).catch((error: unknown) => error);
    const elapsedSeconds = () => (performance.now() - startMs) / 1_000;
    for (const [urls, seconds] of [
      [[url], 30],
      [[url, url], 60],
    ] as const) {
      const refused = (await late(urls)) as BudgetSpentError;
      expect(refused.limit).toBe(3);
      expect(refused.retryAfterSeconds).toBeLessThanOrEqual(seconds);
      expect(refused.retryAfterSeconds).toBeGreaterThanOrEqual(seconds - elapsedSeconds());
    }

    await age(30);

    await spend(WALLET, [url]);
    await expect(spend(WALLET, [url])).rejects.toThrow(BudgetSpentError);
  });

  it('of a host leaves a wallet a third while another wallet waits for it', async () => {
    const spent = async (wallet: string) => {
      let count = 0;
      while (
        await spend(wallet, [url], 6).then(
          () => true,
          () => false,
        )
      )
        count += 1;
      return count;
    };
    expect(await spent(WALLET)).toBe(6);
    await age(30);
    expect(await spent(OTHER)).toBe(0);
    await age(30);
    expect(await spent(WALLET)).toBe(2);
    expect(await spent(OTHER)).toBe(4);
    await age(120);
    expect(await spent(WALLET)).toBe(6);
  });

  it('takes nothing for what it refuses', async () => {
    const many = ['b', 'c', 'd', 'e'].map((host) => `https://${host}.example.com/`);
    await expect(spend(WALLET, many)).rejects.toThrow(BudgetSpentError);
    await spend(WALLET, many.slice(0, 3));
  });

  it('keeps as many rows as it allows, and none of those who ask no more', async () => {
    const count = async () =>
      (await scene.pool.query('select from service.requested_deliveries')).rowCount;
    for (let time = 0; time < 5; time += 1) {
      await spend(WALLET, [url]);
      await age(61);
    }
    expect(await count()).toBe(3);
    await age(600);
    await deleteOldDeliveries(scene.pool);
    expect(await count()).toBe(0);
  });
});

describe('a test event', () => {
  it('counts for the budget, but not at the wish of an operator', async () => {
    const key = { id: await scene.addWebhook({ url }), wallet: WALLET };
    for (let time = 0; time < 3; time += 1) await sendTestEvent(scene.pool, key, budget);
    await expect(sendTestEvent(scene.pool, key, budget)).rejects.toThrow(BudgetSpentError);
    await sendTestEvent(scene.pool, { ...key, wallet: null });
    expect(await scene.deliveries()).toHaveLength(4);
  });

  it('that failed counts once more for its wallet, for five minutes', async () => {
    const key = { id: await scene.addWebhook({ url }), wallet: WALLET };
    await sendTestEvent(scene.pool, key, budget);
    await scene.pool.query(
      `update service.webhook_deliveries set status = 'failed', due_at = null`,
    );
    await expect(spend(WALLET, [url, url])).rejects.toMatchObject({ retryAfterSeconds: 60 });
    await age(60);
    await spend(WALLET, [url, url]);
    await spend(OTHER, [url]);
    await age(60);
    await expect(spend(WALLET, [url, url, url])).rejects.toMatchObject({ retryAfterSeconds: 180 });
    await age(180);
    await spend(WALLET, [url, url, url]);
  });

  it('is one of a hundred that are kept', async () => {
    const key = { id: await scene.addWebhook({ url }), wallet: WALLET };
    for (let time = 0; time < 103; time += 1) {
      await sendTestEvent(scene.pool, key);
      await scene.pool.query(
        `update service.webhook_deliveries set status = 'delivered', due_at = null`,
      );
    }
    expect(await scene.deliveries()).toHaveLength(100);
  });

  it('is refused while a hundred wait for a slow receiver', async () => {
    const key = { id: await scene.addWebhook({ url }), wallet: WALLET };
    for (let time = 0; time < 100; time += 1) await sendTestEvent(scene.pool, key);
    const late = sendTestEvent(scene.pool, key);
    await expect(late).rejects.toMatchObject({
      ...{ limit: 100, limitOf: 'webhook', retryAfterSeconds: 60 },
    });
    expect(await pendingIds()).toHaveLength(100);
  });
});

describe('a triggered event', () => {
  const data = { credits_remaining: 1, usdc_value: 0.01, threshold: 100 };
  const trigger = () => triggerEvent(scene.pool, WALLET, { kind: 'credit.low', data, budget });

  it('counts for each of its webhooks, and goes to all of them or to none', async () => {
    for (const path of ['1', '2']) {
      await scene.addWebhook({ url: `${url}/${path}`, events: ['credit.low'] });
    }
    expect((await trigger()).deliveries).toHaveLength(2);
    await expect(trigger()).rejects.toThrow(BudgetSpentError);
    expect(await scene.deliveries()).toHaveLength(2);
  });

  it('counts also when only terminals receive it', async () => {
    for (let time = 0; time < 3; time += 1) await trigger();
    await expect(trigger()).rejects.toThrow(BudgetSpentError);
  });
});

describe('a replay', () => {
  const resend = (filter: Partial<DeliveryFilter>, perMinute = 3, wallet = WALLET) =>
    resendDeliveries(
      scene.pool,
      { ...filter, webhook: { id: filter.webhook?.id ?? null, wallet } },
      { perMinute },
    );

  it('sends the oldest that the budget allows, and counts the rest', async () => {
    const ids = await addFailed(await scene.addWebhook({ url }), 4);
    const none = { pending: 0, disabled: 0 };
    expect(await resend({ ids: [...ids, ...ids].toReversed() })).toEqual({
      ...{ replayed: 3, ...none, left: 1, retryAfterSeconds: 60 },
    });
    expect(await pendingIds()).toEqual(ids.slice(0, 3));
    const late = resend({ statuses: ['failed'] });
    await expect(late).rejects.toMatchObject({
      ...{ limit: 3, limitOf: 'wallet', retryAfterSeconds: 60 },
    });
    await age(60);
    expect(await resend({})).toEqual({
      ...{ replayed: 1, pending: 3, disabled: 0 },
      ...{ left: 0, retryAfterSeconds: null },
    });
    expect(await resend({}, 1)).toMatchObject({ replayed: 0, pending: 4, left: 0 });
  });

  it('goes over all webhooks, each host within its budget', async () => {
    const other = 'https://other.example.com/';
    const busy = await addFailed(await scene.addWebhook({ url }), 5);
    const quiet = await addFailed(await scene.addWebhook({ url: other }), 2);
    await spend(OTHER, [url, url]);

    expect(await resend({}, 4)).toEqual({
      ...{ replayed: 4, pending: 0, disabled: 0 },
      ...{ left: 3, retryAfterSeconds: 60 },
    });
    expect(await pendingIds()).toEqual([...busy.slice(0, 2), ...quiet]);
  });

  it('passes over what is on its way, and webhooks that are disabled', async () => {
    const disabled = await scene.addWebhook({ url, status: 'disabled' });
    await addFailed(disabled, 2);
    const ids = await addFailed(await scene.addWebhook({ url: `${url}/other` }), 2);
    await resend({ ids: ids.slice(0, 1) });

    expect(await resend({})).toMatchObject({ replayed: 1, pending: 1, disabled: 2, left: 0 });
    expect(await resend({ webhook: { id: disabled, wallet: WALLET } })).toEqual({
      ...{ replayed: 0, pending: 0, disabled: 2 },
      ...{ left: 0, retryAfterSeconds: null },
    });
  });

  it('has no budget at the wish of an operator, batch by batch', async () => {
    const id = await scene.addWebhook({ url });
    await addFailed(id, 1_100);
    expect(await replayDeliveries(scene.pool, { webhook: { id, wallet: null } })).toBe(1_100);
  });
});
