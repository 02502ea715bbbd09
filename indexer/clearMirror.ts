import type pg from 'pg';
import { inTransaction } from '../runtime/postgres.ts';

/**
 * Empties the mirror, so that the next sweep makes it anew from the ledger. What the ledger does
 * not know lives in another schema and is left alone. Whoever keeps the mirror meanwhile starts
 * over with its next sweep.
 */
export async function clearMirror(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query(
      `truncate mirror.transactions, mirror.journal, mirror.account_changes, mirror.cursors,
         mirror.config, mirror.treasury, mirror.gateways, mirror.credit_accounts, mirror.models,
         mirror.workers, mirror.worker_models, mirror.jobs`,
    );
  });
}
