import type { Database } from '../../../common/postgres.ts';

/** What is still to be delivered. */
export interface Backlog {
  readonly deliveries: number;
  /** Since the oldest of them was announced; 0 when there is none. */
  readonly oldestSeconds: number;
  /** For how long an attempt has been due and not been made: grows when nobody makes them. */
  readonly overdueSeconds: number;
}

export async function measureBacklog(database: Database): Promise<Backlog> {
  const { rows } = await database.query<{
    deliveries: number;
    oldest_seconds: number;
    overdue_seconds: number;
  }>(
    `select count(*)::integer as deliveries,
       coalesce(extract(epoch from now() - min(stored_at)), 0)::float8 as oldest_seconds,
       greatest(extract(epoch from now() - min(due_at)), 0)::float8 as overdue_seconds
     from service.webhook_deliveries
     where status = 'pending' and due_at < 'infinity'`,
  );
  const [row] = rows;
  return {
    deliveries: row?.deliveries ?? 0,
    oldestSeconds: row?.oldest_seconds ?? 0,
    overdueSeconds: row?.overdue_seconds ?? 0,
  };
}
