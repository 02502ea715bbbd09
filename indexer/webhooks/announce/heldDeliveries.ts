import type { Database } from '../../../runtime/postgres.ts';
import type { DueDelivery } from '../deliver/queue.ts';

/**
 * Makes due what waited for its transaction to be final.
 *
 * @returns the deliveries, in their order
 */
export async function releaseDeliveries(
  database: Database,
  signatures: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await database.query<{ id: bigint; webhook_id: string }>({
    name: 'release_deliveries',
    text: `
      with released as (
        update service.webhook_deliveries set due_at = now()
        where signature = any($1) and status = 'pending' and due_at = 'infinity'
        returning id, webhook_id
      )
      select id, webhook_id from released order by id`,
    values: [signatures],
  });
  return rows.map(({ id, webhook_id }) => ({
    ...{ id, webhookId: webhook_id },
    ...{ attempt: 1, dueAt: null },
  }));
}

/** Forgets what a vanished transaction announced and nobody was sent. */
export async function deleteUnsent(database: Database, signature: string): Promise<void> {
  await database.query(
    'delete from service.webhook_deliveries where signature = $1 and attempts = 0',
    [signature],
  );
}
