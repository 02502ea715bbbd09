import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { suspendKey } from '../../../api/account/keys.ts';
import { withdrawn } from '../../../testing/indexer/creditEvents.ts';
import { createWebhookScene, type WebhookScene } from '../../../testing/indexer/webhookScene.ts';
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

const account = async (apiKey: string) =>
  (await fetch(`${scene.url}/v1/account`, { headers: { authorization: `Bearer ${apiKey}` } }))
    .status;

describe('the key', () => {
  it('is made once and shown once, and opens /v1', async () => {
    const { cookie, call } = scene;
    expect((await call('GET /key', { cookie })).body).toEqual({ key: null });

    const { body } = await call('POST /key', { cookie });

    expect(body.api_key).toMatch(/^svc_live_\w{32}$/);
    expect(await account(body.api_key)).toBe(200);
    const shown = await call('GET /key', { cookie });
    expect(shown.body.key).toMatchObject({ status: 'active', suspension_reason: null });
    expect(JSON.stringify(shown.body)).not.toContain(body.api_key);
    const again = await call('POST /key', { cookie });
    expect([again.status, again.body.error.code]).toEqual([409, 'key_exists']);
  });

  it('gives way to another at once, and ends when it is revoked [keys.settings-tab]', async () => {
    const { cookie, call } = scene;
    const first = (await call('POST /key/regenerate', { cookie })).body.api_key;
    const second = (await call('POST /key/regenerate', { cookie })).body.api_key;
    expect([await account(first), await account(second)]).toEqual([401, 200]);

    expect((await call('DELETE /key', { cookie })).body).toEqual({ done: true });

    expect(await account(second)).toBe(401);
    const again = await call('DELETE /key', { cookie });
    expect([again.status, again.body.error.code]).toEqual([404, 'key_not_found']);
  });

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

  it('keeps its suspension, with the reason, when its owner regenerates it', async () => {
    const owner = Keypair.generate();
    const cookie = await signIn(scene.call, owner);
    await scene.call('POST /key', { cookie });
    await suspendKey(scene.pool, owner.publicKey.toBase58(), '<b>abuse</b>');

    const { body } = await scene.call('POST /key/regenerate', { cookie });

    expect(body.error.code).toBe('key_not_found');
    expect((await scene.call('GET /key', { cookie })).body.key).toMatchObject({
      status: 'suspended',
      suspended_by: 'operator',
      suspension_reason: '<b>abuse</b>',
    });
  });
});

describe('the threshold', () => {
  const set = (threshold_credits: unknown) =>
    scene.call('PUT /threshold', { cookie: scene.strangerCookie, body: { threshold_credits } });

  it('is 100 before it is set', async () => {
    const { body } = await scene.call('GET /threshold', { cookie: scene.cookie });
    expect(body).toEqual({ threshold_credits: 100, is_low: false });
  });

  it.each([-1, 0.5, 1e30, ' 50 ', '50', null])('refuses %j, and names the field', async (value) => {
    const { status, body } = await set(value);
    expect([status, body.error.param]).toEqual([400, 'threshold_credits']);
  });

  it('arms an alert that has fired: fired at 100, lowered to 50, it fires at 45', async () => {
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
