import { randomUUID } from 'node:crypto';
import type { Database } from '../../common/postgres.ts';
import { API_VERSION, WEBHOOK_KINDS } from '../../webhooks/events.ts';

/** Leaves each of the wallets with one webhook, which hears of everything. */
export async function subscribeToAll(database: Database, wallets: readonly string[]) {
  await database.query('truncate service.webhooks, service.credit_alerts cascade');
  for (const wallet of wallets) {
    await database.query(
      `insert into service.webhooks (id, wallet, url, events, api_version, secret)
       values ($1, $2, 'https://receiver.example', $3, $4, '')`,
      [`wh_${randomUUID()}`, wallet, WEBHOOK_KINDS, API_VERSION],
    );
  }
}
