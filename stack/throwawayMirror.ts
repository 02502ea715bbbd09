import type pg from 'pg';
import { clearMirror } from '../indexer/clearMirror.ts';
import { migrate } from '../indexer/migrate.ts';
import { createPool, inTransaction } from '../runtime/postgres.ts';
import { StackError } from './errors.ts';

/** Marks a mirror that shows an embedded ledger, which nobody will see again. */
const MARK = 'Mirror of an embedded ledger: npm start may empty it.';

/**
 * Makes the schema of a database ready for a ledger that has just begun: the mirror of an earlier
 * embedded ledger is emptied, any other is refused. Keys, webhooks and what else the ledger does not
 * know stay.
 *
 * @throws StackError when the mirror holds another ledger's events
 */
export async function prepareThrowawayMirror(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    await migrate(pool);
    await inTransaction(pool, empty);
  } finally {
    await pool.end();
  }
}

async function empty(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ is_empty: boolean; mark: string | null }>(
    `select not exists (select from mirror.transactions) as is_empty,
            obj_description('mirror'::regnamespace) as mark`,
  );
  if (!rows[0]?.is_empty && rows[0]?.mark !== MARK) {
    throw new StackError(
      'DATABASE_URL names a database that mirrors another ledger. An embedded ledger begins ' +
        'empty: name an empty database, or that ledger by SOLANA_RPC_URL.',
    );
  }
  await clearMirror(client);
  // Slots count from the beginning again, and so does what was told at them.
  await client.query('delete from service.announcements');
  await client.query('update service.credit_alerts set is_low = false');
  await client.query(`comment on schema mirror is '${MARK}'`);
}
