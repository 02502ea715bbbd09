import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createWebhooks } from '../../../api/account/webhooks.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { createSealing } from '../../../common/sealing.ts';
import { bought } from '../../../testing/indexer/creditEvents.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import {
  createWebhookScene,
  WALLET,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';

/** More than are deleted in one statement. */
const DELIVERIES = 2_500;

let scene: WebhookScene;
let doomed: string;

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterAll(() => scene?.close());

beforeEach(async () => {
  doomed = await scene.addWebhook({ url: 'https://example.com/doomed' });
});

afterEach(() => scene.pool.query('delete from service.webhooks'));

function remove(): Promise<void> {
  return createWebhooks({
    pool: scene.pool,
    sealing: createSealing(Buffer.from(SECRETS_KEY, 'base64')),
    resolve: async () => [],
    allowLoopback: true,
  }).remove(WALLET, doomed);
}

/** Announces a top-up of the wallet as the mirror's only writer does, without waiting. */
function announce(): Promise<void> {
  return inTransaction(scene.pool, async (client) => {
    await client.query(`set local lock_timeout = '500ms'`);
    await scene.outbox.announce(client, [bought({ credits: 5, available: 105 })]);
  });
}

async function addDeliveries(): Promise<bigint> {
  await scene.pool.query(
    `insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body, status)
     select $1, 'evt_' || number, 'credit.topup', now(), '{}', 'delivered'
     from generate_series(1, $2) number`,
    [doomed, DELIVERIES],
  );
  const [first] = await scene.deliveries();
  return first?.id as bigint;
}

describe('a webhook during its deletion', () => {
  it("does not delay the wallet's other webhooks", async () => {
    const kept = await scene.addWebhook({ url: 'https://example.com/kept' });
    await inTransaction(scene.pool, async (deleting) => {
      await deleting.query('delete from service.webhooks where id = $1', [doomed]);
      await announce();
    });
    expect((await scene.deliveries()).map(({ webhook_id }) => webhook_id)).toEqual([kept]);
  });

  it('receives events as usual when disabled, rotated or concluded instead', async () => {
    await inTransaction(scene.pool, async (changing) => {
      await changing.query('select from service.webhooks where id = $1 for no key update', [
        doomed,
      ]);
      await changing.query(
        `update service.webhooks set status = 'disabled', previous_secret = secret,
           previous_secret_until = now() where id = $1`,
        [doomed],
      );
      await announce();
    });
    expect((await scene.deliveries()).map(({ webhook_id }) => webhook_id)).toEqual([doomed]);
  });

  it('receives nothing more and loses its queued deliveries at once', async () => {
    const busy = await addDeliveries();
    const removing = await inTransaction(scene.pool, async (attempting) => {
      await attempting.query('select from service.webhook_deliveries where id = $1 for update', [
        busy,
      ]);
      const removal = remove();
      await until(async () => (await scene.deliveries()).length === 1);
      expect(await scene.webhookStatus(doomed)).toBe('disabled');
      await announce();
      // Not to be awaited here: it waits for the delivery that is locked.
      return { removal };
    });
    await removing.removal;
    expect(await scene.webhookStatus(doomed)).toBeUndefined();
    expect(await scene.deliveries()).toEqual([]);
  });
});
