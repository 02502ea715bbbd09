import type { Database } from '../../common/postgres.ts';

/** Forgets a transaction and its events. */
export async function deleteTransaction(database: Database, signature: string): Promise<void> {
  await database.query('delete from transactions where signature = $1', [signature]);
}
