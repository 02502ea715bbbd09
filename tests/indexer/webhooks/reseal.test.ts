import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createSealing } from '../../../common/sealing.ts';
import { resealSecrets } from '../../../indexer/webhooks/resealSecrets.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { ownWebhookScene } from '../../../testing/indexer/own.ts';
import { SECRET } from '../../../testing/indexer/webhookScene.ts';
import { rotateSecret } from '../../../webhookOperations/secrets.ts';
import { generateSecret } from '../../../webhooks/signature.ts';
import { whileLocked } from './whileLocked.ts';

const oldKey = Buffer.from(SECRETS_KEY, 'base64');
const newKey = Buffer.alloc(32, 9);
const before = createSealing(oldKey);
const between = createSealing(newKey, oldKey);
const after = createSealing(newKey);

const scene = await ownWebhookScene();
let id: string;

beforeEach(async () => {
  id = await add();
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
});

describe('resealing during a rotation', () => {
  const rotate = () => rotateSecret(scene.pool, between, { id, wallet: null });

  /** Begins both while the webhook is held, so that one is done with it before the other. */
  async function race(...changes: (() => Promise<unknown>)[]): Promise<unknown[]> {
    const hold = (client: pg.PoolClient) =>
      client.query('select from service.webhooks where id = $1 for update', [id]);
    const ends = await whileLocked(scene.pool, hold, ...changes);
    return ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason));
  }

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

  it('neither restores a deleted webhook nor stops at it', async () => {
    const others = [await add(generateSecret()), await add(generateSecret())];
    const remove = () => scene.pool.query('delete from service.webhooks where id = $1', [id]);
    const [, count] = await race(remove, resealAll);
    expect(count).toEqual({ resealed: 2, present: 0, unreadableIds: [] });
    for (const other of others) await secretsOf(other);
    expect(await scene.webhookStatus(id)).toBeUndefined();
  });
});
