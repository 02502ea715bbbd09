import type { Database } from '../common/postgres.ts';

/** Notified when attempts are due at once. */
export const DUE_CHANNEL = 'webhook_attempts_due';

/** To be called in the database transaction that makes them due. */
export async function notifyDue(database: Database): Promise<void> {
  await database.query(`select pg_notify('${DUE_CHANNEL}', '')`);
}
