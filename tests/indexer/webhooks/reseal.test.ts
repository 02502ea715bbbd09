import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSealing } from '../../../common/sealing.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import {
  createWebhookScene,
  SECRET,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { until } from '../../../testing/until.ts';
import { resealSecrets, rotateSecret } from '../../../webhookOperations/secrets.ts';
import { generateSecret } from '../../../webhooks/signature.ts';

const oldKey = Buffer.from(SECRETS_KEY, 'base64');
const newKey = Buffer.alloc(32, 9);
const before = createSealing(oldKey);
const between = createSealing(newKey, oldKey);
const after = createSealing(newKey);

let scene: WebhookScene;
let id: string;

beforeAll(async () => {
  scene = await createWebhookScene();
});

afterAll(() => scene?.close());

beforeEach(async () => {
  id = await add();
});

afterEach(async () => {
  await scene.pool.query('delete from service.webhooks');
});

let added = 0;
async function add(secret?: string): Promise<string> {
  added += 1;
  const url = `http://127.0.0.1:9/${added}`;
  return scene.addWebhook({ url, ...(secret !== undefined && { secret }) });
}

/** What is stored, opened by the new key alone. */
async function secretsOf(webhookId: string) {
  const { rows } = await scene.pool.query(
    'select secret, previous_secret, previous_secret_until from service.webhooks where id = $1',
    [webhookId],
  );
  const { secret, previous_secret, previous_secret_until } = rows[0];
  return {
    secret: after.open(secret),
    previousSecret: previous_secret && after.open(previous_secret),
    previousUntil: previous_secret_until,
  };
}

const resealAll = () => resealSecrets(scene.pool, between);

describe('resealing', () => {
  it('seals every secret under the new key, and ends no overlap', async () => {
    const rotatedId = await add();
    const secret = await rotateSecret(scene.pool, before, { id: rotatedId, wallet: null });
    const { rows } = await scene.pool.query(
      'select previous_secret_until from service.webhooks where id = $1',
      [rotatedId],
    );

    expect(await resealAll()).toEqual({ resealed: 3, present: 0, unreadableIds: [] });
    expect(await secretsOf(id)).toMatchObject({ secret: SECRET, previousSecret: null });
    expect(await secretsOf(rotatedId)).toEqual({
      ...{ secret, previousSecret: SECRET },
      previousUntil: rows[0].previous_secret_until,
    });
  });

  it('leaves secrets under the new key as they are, so that it can be repeated', async () => {
    const rotatedId = await add();
    const secret = await rotateSecret(scene.pool, between, { id: rotatedId, wallet: null });
    expect(await resealAll()).toEqual({ resealed: 2, present: 1, unreadableIds: [] });
    const stored = () => scene.pool.query('select *, xmin from service.webhooks order by id');
    const { rows } = await stored();
    expect(await resealAll()).toEqual({ resealed: 0, present: 3, unreadableIds: [] });
    expect((await stored()).rows).toEqual(rows);
    expect(await secretsOf(rotatedId)).toMatchObject({ secret, previousSecret: SECRET });
  });

  it('deletes old secrets that no longer sign, under any key', async () => {
    await rotateSecret(scene.pool, before, { id, wallet: null });
    await scene.pool.query('update service.webhooks set previous_secret_until = now()');
    expect(await resealAll()).toEqual({ resealed: 1, present: 0, unreadableIds: [] });
    expect(await secretsOf(id)).toMatchObject({ previousSecret: null, previousUntil: null });
  });

  it('names the webhooks that neither key opens, and reseals all others', async () => {
    const lost = createSealing(Buffer.alloc(32, 1)).seal(SECRET);
    const [lostId, overlapLostId] = [await add(), await add()];
    const set = (column: string, webhookId: string) =>
      scene.pool.query(`update service.webhooks set ${column} where id = $1`, [webhookId, lost]);
    await set('secret = $2', lostId);
    await set(
      `previous_secret = $2, previous_secret_until = now() + interval '1 hour'`,
      overlapLostId,
    );

    const { resealed, present, unreadableIds } = await resealAll();
    expect({ resealed, present }).toEqual({ resealed: 2, present: 0 });
    expect(unreadableIds).toEqual([lostId, overlapLostId].sort());
    const { rows } = await scene.pool.query(
      `select secret from service.webhooks where id = $1
       union all select previous_secret from service.webhooks where id = $2`,
      [lostId, overlapLostId],
    );
    expect(rows.map(({ secret }) => lost.equals(secret))).toEqual([true, true]);
    expect(await secretsOf(id)).toMatchObject({ secret: SECRET });
  });

  it('resumes where it was interrupted', async () => {
    for (let webhook = 0; webhook < 3; webhook += 1) await add();
    let left = 2;
    const breaking: typeof between.reseal = (sealed) => {
      left -= 1;
      if (left < 0) throw new Error('broken off');
      return between.reseal(sealed);
    };
    await expect(resealSecrets(scene.pool, { reseal: breaking })).rejects.toThrow('broken off');
    expect(await resealAll()).toEqual({ resealed: 2, present: 2, unreadableIds: [] });
  });
});

describe('resealing during a rotation', () => {
  /** Until so many wait for a row that somebody holds. */
  const untilWaiting = (count: number) =>
    until(async () => {
      const { rows } = await scene.pool.query(
        `select count(*)::integer as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.waiting === count;
    });

  /** Begins both while the webhook is held, so that one is done with it before the other. */
  async function race<First, Second>(
    first: () => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<[First, Second]> {
    const holder = await scene.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from service.webhooks where id = $1 for update', [id]);
      const begun = first();
      await untilWaiting(1);
      const next = second();
      await untilWaiting(2);
      await holder.query('commit');
      return await Promise.all([begun, next]);
    } finally {
      holder.release();
    }
  }

  const rotate = (sealing = between) => rotateSecret(scene.pool, sealing, { id, wallet: null });

  it('keeps the new secret and the previous one when the rotation comes first', async () => {
    const [secret, count] = await race(rotate, resealAll);
    expect(count).toEqual({ resealed: 1, present: 1, unreadableIds: [] });
    expect(await secretsOf(id)).toMatchObject({ secret, previousSecret: SECRET });
  });

  it('keeps both when the rotation comes second', async () => {
    const [count, secret] = await race(resealAll, rotate);
    expect(count).toEqual({ resealed: 1, present: 0, unreadableIds: [] });
    expect(await secretsOf(id)).toMatchObject({ secret, previousSecret: SECRET });
  });

  it('keeps both in any order, repeatedly', async () => {
    let last = SECRET;
    for (let round = 0; round < 20; round += 1) {
      const [secret] = await Promise.all([
        rotate(round % 2 === 0 ? createSealing(oldKey, newKey) : between),
        resealAll(),
        resealAll(),
      ]);
      await resealAll();
      expect(await secretsOf(id)).toMatchObject({ secret, previousSecret: last });
      last = secret;
    }
  });

  it('neither restores a deleted webhook nor stops at it', async () => {
    const others = [await add(generateSecret()), await add(generateSecret())];
    const remove = () => scene.pool.query('delete from service.webhooks where id = $1', [id]);
    const [, count] = await race(remove, resealAll);
    expect(count).toEqual({ resealed: 2, present: 0, unreadableIds: [] });
    for (const other of others) await secretsOf(other);
    expect(await scene.webhookStatus(id)).toBeUndefined();
  });
});
