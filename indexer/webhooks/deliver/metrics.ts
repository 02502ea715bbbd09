import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Logger } from '../../../common/logger.ts';
import { metricsOf } from '../../../common/metricsOf.ts';
import type { Database } from '../../../common/postgres.ts';
import type { AttemptResult } from './exchange.ts';

/**
 * Measures the deliveries for Prometheus.
 *
 * @param options.pool measured whenever the metrics are read
 */
export function createWebhookMetrics(options: {
  registry: Registry;
  pool: pg.Pool;
  logger: Logger;
}) {
  const { registry, pool, logger } = options;
  const { counter, observe } = metricsOf(registry);
  const attempts = counter(
    'svc_webhook_attempts_total',
    'Attempts to deliver an event, by how they ended',
    ['result'],
  );
  let measuring: Promise<Backlog | undefined> | undefined;
  /** One measurement for all gauges; undefined while the database is away. */
  function measure(): Promise<Backlog | undefined> {
    measuring ??= measureBacklog(pool)
      .catch((error: unknown) => {
        logger.warn({ msg: 'Failed to measure the backlog of the webhooks', err: error });
        return undefined;
      })
      .finally(() => {
        measuring = undefined;
      });
    return measuring;
  }
  const gauge = (key: keyof Backlog, name: string, help: string) =>
    observe(name, help, async () => (await measure())?.[key]);
  gauge('deliveries', 'svc_webhook_backlog_deliveries', 'Events that are still to be delivered');
  gauge(
    'oldestSeconds',
    'svc_webhook_backlog_oldest_seconds',
    'Time since the oldest of them was announced',
  );
  gauge(
    'overdueSeconds',
    'svc_webhook_overdue_seconds',
    'Time that an attempt has been due without being made',
  );
  return { attempt: ({ error }: AttemptResult) => attempts.inc({ result: error ?? 'delivered' }) };
}

/** What is still to be delivered. */
interface Backlog {
  readonly deliveries: number;
  /** Since the oldest of them was announced; 0 when there is none. */
  readonly oldestSeconds: number;
  /** For how long an attempt has been due and not been made: grows while no process makes them. */
  readonly overdueSeconds: number;
}

export async function measureBacklog(database: Database): Promise<Backlog> {
  const { rows } = await database.query<Backlog>(
    `select count(*)::integer as deliveries,
       coalesce(extract(epoch from now() - min(stored_at)), 0)::float8 as "oldestSeconds",
       greatest(extract(epoch from now() - min(due_at)), 0)::float8 as "overdueSeconds"
     from service.webhook_deliveries
     where status = 'pending' and due_at < 'infinity'`,
  );
  // Without grouping, an aggregate has one row.
  return rows[0] as Backlog;
}
