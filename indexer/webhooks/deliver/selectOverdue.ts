import type { Database } from '../../../common/postgres.ts';
import type { DueDelivery } from './queue.ts';

/** Long enough for an attempt that is under way to be concluded. */
const OVERDUE_SECONDS = 60;
const OVERDUE_MAX = 1_000;

/**
 * Attempts that should have been made or concluded, the longest due first; a bounded number. One
 * that was begun and has no end is settled before the next is made. With the queue, the owner's
 * wish is lost: a replay to a webhook that has failed is set aside, to be replayed once more.
 */
export async function selectOverdue(database: Database): Promise<DueDelivery[]> {
  const { rows } = await database.query<{ id: bigint; webhook_id: string; attempt: number }>(
    `select id, webhook_id, coalesce(begun.attempt, attempts + 1) as attempt
     from service.webhook_deliveries
     left join service.webhook_attempts begun on delivery_id = id and begun.attempt = attempts
       and duration_ms is null and error is null
     where status = 'pending' and due_at < now() - $1 * interval '1 second'
       and (begun.attempt is null or started_at < now() - $1 * interval '1 second')
     order by due_at, id limit $2`,
    [OVERDUE_SECONDS, OVERDUE_MAX],
  );
  return rows.map(({ id, webhook_id, attempt }) => ({
    ...{ id, attempt },
    ...{ webhookId: webhook_id, dueAt: null },
  }));
}
