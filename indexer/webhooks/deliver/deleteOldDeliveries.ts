import type { Database } from '../../../runtime/postgres.ts';

/** How long deliveries can be looked up and replayed, whatever became of them. */
const KEPT_DAYS = 30;
const DELETED_MAX = 1_000;

/** Forgets old deliveries with their attempts; a bounded number, since there is a next time. */
export async function deleteOldDeliveries(database: Database): Promise<void> {
  await database.query(
    `delete from service.webhook_deliveries where id in (
       select id from service.webhook_deliveries
       where status <> 'pending' and stored_at < now() - $1 * interval '1 day'
       limit $2
     )`,
    [KEPT_DAYS, DELETED_MAX],
  );
}
