import type pg from 'pg';
import type { LedgerSource } from '../../indexer/source/source.ts';

/** The cost of only storing events. */
export interface BareInsert {
  readonly perSecond: number;
  /** The duration of each transaction, in milliseconds. */
  readonly durationsMs: readonly number[];
}

/**
 * Stores the newest transactions of a ledger, each with one insert that commits alone: the minimum
 * for any mirror.
 *
 * @param pool a pool of an empty database
 */
export async function insertBare(
  pool: pg.Pool,
  { source, transactions }: { source: LedgerSource; transactions: number },
): Promise<BareInsert> {
  await pool.query('create table bare (signature text, data jsonb)');
  const listed = await source.list({ commitment: 'confirmed', limit: transactions });
  const durationsMs: number[] = [];
  let events = 0;
  for (const transaction of await Promise.all(listed.map(source.read))) {
    const { signature } = transaction;
    const data = JSON.stringify(transaction.events.map((event) => event.data));
    const startMs = performance.now();
    await pool.query({
      name: 'insert_bare',
      text: 'insert into bare select $1, event from jsonb_array_elements($2) event',
      values: [signature, data],
    });
    durationsMs.push(performance.now() - startMs);
    events += transaction.events.length;
  }
  const elapsedMs = durationsMs.reduce((sum, durationMs) => sum + durationMs, 0);
  return { perSecond: (events * 1_000) / elapsedMs, durationsMs };
}
