import type { Database } from '../../common/postgres.ts';

/** 100 addresses take at most 4,500 bytes of the 8,000 that a notification may have. */
const ADDRESSES_MAX = 100;

/** Notifies listeners on `mirror_jobs` of changed jobs, once the transaction commits. */
export async function notifyJobs(database: Database, addresses: readonly string[]): Promise<void> {
  for (let from = 0; from < addresses.length; from += ADDRESSES_MAX) {
    await database.query({
      name: 'notify_jobs',
      text: `select pg_notify('mirror_jobs', $1)`,
      values: [addresses.slice(from, from + ADDRESSES_MAX).join(',')],
    });
  }
}
