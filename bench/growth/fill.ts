import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { finalize } from '../../indexer/mirror/finalize.ts';
import { migrate } from '../../indexer/sql/migrate.ts';
import { MIRROR_SCHEMA, useSchema } from '../../indexer/sql/schema.ts';
import { createWebhookOutbox } from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
import { API_VERSION, WEBHOOK_KINDS } from '../../webhooks/events.ts';

/** How much a database holds. */
export interface Size {
  readonly jobs: number;
  readonly wallets: number;
  readonly webhooks: number;
}

/**
 * Fills a database as an indexer does: with the events of a history, and with the deliveries to
 * webhooks that hear of everything.
 */
export async function fill(pool: pg.Pool, { jobs, wallets, webhooks }: Size): Promise<void> {
  await migrate(pool);
  const source = createSyntheticSource(wallets + jobs, { wallets, isFullLength: true });
  await subscribe(pool, await readWallets(source, webhooks));
  const client = await pool.connect();
  await useSchema(client, MIRROR_SCHEMA);
  await finalize({
    ...{ database: client, source, addresses: createAddresses(), commitment: 'confirmed' },
    outbox: createWebhookOutbox({ awaitsFinality: false }, 0n),
    ...{ onFolded: () => {}, signal: new AbortController().signal },
  });
  client.release(true);
  await pool.query('vacuum analyze');
}

/** The first ones, by what they bought. */
async function readWallets(
  source: ReturnType<typeof createSyntheticSource>,
  count: number,
): Promise<string[]> {
  const wallets: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const [event] = (await source.read(source.at(index))).events;
    if (event?.name === 'CreditOpened') wallets.push(event.data.wallet);
  }
  return wallets;
}

async function subscribe(pool: pg.Pool, wallets: readonly string[]): Promise<void> {
  for (const wallet of wallets) {
    await pool.query(
      `insert into service.webhooks (id, wallet, url, events, api_version, secret)
       values ($1, $2, 'https://receiver.example', $3, $4, '')`,
      [`wh_${randomUUID()}`, wallet, WEBHOOK_KINDS, API_VERSION],
    );
  }
}
