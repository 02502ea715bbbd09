import type pg from 'pg';
import { applyTransactions } from '../../../../indexer/mirror/apply.ts';
import { digestTables } from '../../../../indexer/sql/digest.ts';
import { createMirrorSchema, MIRROR_SCHEMA } from '../../../../indexer/sql/schema.ts';
import {
  createWebhookOutbox,
  type OutboxSettings,
} from '../../../../indexer/webhooks/announce/webhookOutbox.ts';
import { addresses } from '../../../../testing/indexer/scene.ts';
import { show } from '../ledger/landed.ts';
import type { SimulatedLedger } from '../ledger/simulatedLedger.ts';
import { type Delivery, selectDeliveries } from './announcements.ts';

const CLEAN_SCHEMA = 'clean';
const SHOWN_MAX = 10;

/** What comes of the ledger when nothing fails. */
export interface CleanFold {
  /** The mirror's tables that differ from it, with the rows. */
  readonly tables: string[];
  /** What webhooks get of it. */
  readonly deliveries: Delivery[];
}

/**
 * Folds the ledger from its beginning, each transaction once and in order, beside the mirror and in
 * a database transaction that is rolled back.
 *
 * @param options.floorSlot nothing up to it is announced
 */
export async function foldCleanly(options: {
  pool: pg.Pool;
  ledger: SimulatedLedger;
  outboxSettings: OutboxSettings;
  floorSlot: bigint;
}): Promise<CleanFold> {
  const { pool, ledger, outboxSettings, floorSlot } = options;
  const found = await digestTables(pool);
  const client = await pool.connect();
  try {
    await client.query('begin');
    await createMirrorSchema(client, CLEAN_SCHEMA);
    await client.query('delete from service.webhook_deliveries');
    await client.query('delete from service.credit_alerts');
    const { announce } = createWebhookOutbox(outboxSettings, floorSlot);
    for (const landed of ledger.transactions) {
      if (landed.failed) continue;
      await applyTransactions(client, [show(landed)], addresses, { notify: announce });
    }
    const clean = await digestTables(client, CLEAN_SCHEMA);
    const differing = Object.keys(clean).filter((table) => found[table] !== clean[table]);
    const tables: string[] = [];
    for (const table of differing) tables.push(await describeTable(client, table));
    return { tables, deliveries: await selectDeliveries(client) };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function describeTable(client: pg.PoolClient, table: string): Promise<string> {
  const { rows } = await client.query<{ line: string }>(
    `select 'mirror: ' || row::text as line from (
       select * from ${MIRROR_SCHEMA}.${table} except select * from ${CLEAN_SCHEMA}.${table}) row
     union all
     select 'ledger: ' || row::text from (
       select * from ${CLEAN_SCHEMA}.${table} except select * from ${MIRROR_SCHEMA}.${table}) row
     limit ${SHOWN_MAX}`,
  );
  return [table, ...rows.map(({ line }) => line)].join('\n');
}
