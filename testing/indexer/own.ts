import { afterAll, afterEach } from '@jest/globals';
import type pg from 'pg';
import { createMirrorDatabase, type MirrorDatabase } from './mirrorDatabase.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createScene, type Scene } from './scene.ts';
import { createWebhookScene, type WebhookScene } from './webhookScene.ts';

// What belongs to one test file, as `ownFolder` does, and ends with it.

const ends: (() => unknown)[] = [];

/** Called when the file's tests have ended: what was named last is the first. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
  afterAll(endAll);
}

async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

export async function ownScene(...options: Parameters<typeof createScene>): Promise<Scene> {
  const scene = await createScene(...options);
  atEnd(() => scene.ledger.close());
  return scene;
}

export async function ownMirror(): Promise<MirrorDatabase> {
  const mirror = await createMirrorDatabase();
  atEnd(() => mirror.close());
  return mirror;
}

export async function ownClient({ pool }: MirrorDatabase): Promise<pg.PoolClient> {
  const client = await pool.connect();
  atEnd(() => client.release());
  return client;
}

/** @param options.isKept whether what one test has left is there for the next */
export async function ownWebhookScene({ isKept = false } = {}): Promise<WebhookScene> {
  const scene = await createWebhookScene();
  atEnd(() => scene.close());
  if (!isKept) afterEach(() => empty(scene));
  return scene;
}

async function empty({ pool, errors }: WebhookScene): Promise<void> {
  await pool.query(
    `delete from service.webhooks;
     delete from service.credit_alerts;
     delete from service.requested_deliveries`,
  );
  errors.length = 0;
}

/** It accepts everything, until a test has another answer. */
export async function ownReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  const { answer } = receiver;
  atEnd(() => receiver.close());
  afterEach(() => {
    receiver.answer = answer;
    receiver.received.length = 0;
  });
  return receiver;
}
