import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { reinstateWallet, suspendWallet } from '../../../api/account/suspensions.ts';
import { withdrawn } from '../../../testing/indexer/creditEvents.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { type ConsoleScene, openConsoleScene, signIn } from './consoleScene.ts';

let webhooks: WebhookScene;
let scene: ConsoleScene;
let wallet: string;

beforeAll(async () => {
  webhooks = await createWebhookScene();
  scene = await openConsoleScene({ on: webhooks });
  wallet = scene.wallet.publicKey.toBase58();
});

afterAll(() => scene.close());

/** Until so many transactions of the database wait. @param client in a transaction, or not */
const untilWaiting = (client: pg.PoolClient, count: number): Promise<void> =>
  until(async () => {
    const { rowCount } = await client.query(
      `select from pg_locks where not granted and pid in (
         select pid from pg_locks join pg_database on pg_database.oid = database
         where datname = current_database()
       )`,
    );
    return (rowCount ?? 0) >= count;
  });

const account = async (apiKey: string) =>
  (await fetch(`${scene.url}/v1/account`, { headers: { authorization: `Bearer ${apiKey}` } }))
    .status;

describe('the key', () => {
  it('is shown for 15 minutes after a sign-in only', async () => {
    const cookie = await signIn(scene.call, scene.wallet);
    await scene.pool.query(
      `update service.sessions set signed_in_at = signed_in_at - interval '15 minutes'
       where wallet = $1`,
      [wallet],
    );

    for (const route of ['POST /key', 'POST /key/regenerate', 'POST /webhooks']) {
      const { status, body } = await scene.call(route, { cookie, body: {} });
      expect([status, body.error.code]).toEqual([403, 'fresh_sign_in_required']);
    }
    expect((await scene.call('GET /key', { cookie })).status).toBe(200);
  });

  it('shows its last use, which is noted every five minutes at most', async () => {
    const cookie = await signIn(scene.call, Keypair.generate());
    const { api_key } = (await scene.call('POST /key', { cookie })).body;
    const used = async () => (await scene.call('GET /key', { cookie })).body.key.last_used_at;
    expect(await used()).toBe(null);
    await account(api_key);
    const first = await used();
    await account(api_key);
    expect([first, await used()]).toEqual([expect.any(String), first]);

    await scene.pool.query(
      `update service.api_keys set last_used_at = last_used_at - interval '6 minutes'`,
    );
    await account(api_key);
    expect(Date.parse(await used())).toBeGreaterThan(Date.parse(first));
  });

  it('is not replaced by a request that came before it was made', async () => {
    const owner = Keypair.generate();
    const cookie = await signIn(scene.call, owner);
    await scene.call('POST /key', { cookie });
    const another = await signIn(scene.call, owner);
    // Its guard notes the use of its session, which waits.
    const gate = await scene.pool.connect();
    await gate.query('begin');
    const { rowCount } = await gate.query(
      `update service.sessions set last_used_at = last_used_at - interval '2 minutes'
       where id = $1`,
      [(await scene.call('GET /session', { cookie: another })).body.session.id],
    );
    expect(rowCount).toBe(1);
    await gate.query('commit; begin');
    await gate.query('select from service.sessions where wallet = $1 for update', [
      owner.publicKey.toBase58(),
    ]);
    const early = scene.call('POST /key/regenerate', { cookie: another });
    await untilWaiting(gate, 1);
    const shown = await scene.call('POST /key/regenerate', { cookie });
    await gate.query('commit');
    gate.release();

    const { status, body } = await early;

    expect([status, body.error?.code]).toEqual([409, 'key_replaced']);
    expect(await account(shown.body.api_key)).toBe(200);
  });
});

describe('a suspended wallet', () => {
  const REASON = '<b>abuse</b>';
  const CHAT = { model: 'a model', messages: [{ role: 'user', content: 'Hello.' }] };

  it('sees why, with a live key and without one, and is refused until its end', async () => {
    const owner = Keypair.generate();
    const cookie = await signIn(scene.call, owner);
    const { api_key: apiKey } = (await scene.call('POST /key', { cookie })).body;
    await suspendWallet(scene.pool, owner.publicKey.toBase58(), REASON);
    const suspension = { suspended_by: 'operator', reason: REASON };
    const state = async () => (await scene.call('GET /key', { cookie })).body;
    const expectRefusals = async () => {
      for (const route of ['POST /key', 'POST /key/regenerate', 'POST /chat/completions']) {
        const { status, body } = await scene.call(route, { cookie, body: CHAT });
        expect([route, status, body.error.code]).toEqual([route, 403, 'key_suspended']);
        expect(body.error.message).toContain(`suspended: ${REASON}. The operator`);
      }
    };
    expect([await account(apiKey), await state()]).toMatchObject([
      403,
      {
        key: { status: 'suspended', suspended_by: 'operator', suspension_reason: REASON },
        suspension,
      },
    ]);
    await expectRefusals();

    await scene.call('DELETE /key', { cookie });

    expect(await state()).toMatchObject({ key: null, suspension });
    await expectRefusals();
    await reinstateWallet(scene.pool, owner.publicKey.toBase58());
    const { body } = await scene.call('POST /key', { cookie });
    expect(await account(body.api_key)).toBe(200);
  });
});

describe('the threshold', () => {
  const set = (threshold_credits: unknown) =>
    scene.call('PUT /threshold', { cookie: scene.strangerCookie, body: { threshold_credits } });

  it.each([-1, 0.5, 1e30, ' 50 ', '50', null])('refuses %j, and names the field', async (value) => {
    const { status, body } = await set(value);
    expect([status, body.error.param]).toEqual([400, 'threshold_credits']);
  });

  it('resets a fired alert: fired at 100 and lowered to 50, it fires at 45', async () => {
    const stranger = scene.stranger.publicKey.toBase58();
    await webhooks.addWebhook({
      url: 'https://a.example',
      wallet: stranger,
      events: ['credit.low'],
    });
    const spend = (available: number) =>
      webhooks.announce([withdrawn({ credits: 1, available, wallet: stranger })]);
    const fired = async () =>
      (await webhooks.deliveries()).map(({ body }) => JSON.parse(body).data.threshold);
    await spend(80);
    expect(await fired()).toEqual([100]);

    expect((await set(50)).body).toEqual({ threshold_credits: 50, is_low: false });

    await spend(60);
    expect(await fired()).toEqual([100]);
    await spend(45);
    expect(await fired()).toEqual([100, 50]);
    // The same again does not fire twice.
    expect((await set(50)).body).toEqual({ threshold_credits: 50, is_low: true });
    await spend(44);
    expect(await fired()).toEqual([100, 50]);
  });
});
