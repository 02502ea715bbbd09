import type { Database } from '../../../common/postgres.ts';

/** How long deliveries can be looked up and replayed, whatever became of them. */
const KEPT_DAYS = 30;
/** In one statement, so that none takes long. */
const BATCH = 1_000;
/** In one run: more than a process delivers between two of them, and done within seconds. */
const BATCHES_MAX = 30;

/**
 * Forgets old deliveries with their attempts, all that there are; a bounded number, since there is
 * a next time.
 *
 * @param signal ends it after the batch it is at
 */
export async function deleteOldDeliveries(database: Database, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    // What another process is deleting is left to it.
    const { rowCount } = await database.query(
      `delete from service.webhook_deliveries where id in (
         select id from service.webhook_deliveries
         where status <> 'pending' and stored_at < now() - $1 * interval '1 day'
         order by stored_at limit $2
         for update skip locked
       )`,
      [KEPT_DAYS, BATCH],
    );
    if ((rowCount ?? 0) < BATCH || signal.aborted) return;
  }
}
