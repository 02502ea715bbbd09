import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../../../common/postgres.ts';
import type { Outcome } from './exchange.ts';

/** What is still to be delivered. */
interface Backlog {
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

/** What the webhooks tell about their work, in Prometheus's form. */
export interface WebhookMetrics {
  attempt(outcome: Outcome): void;
  backlog(backlog: Backlog): void;
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'svc_webhook_attempts_total',
    help: 'Attempts to deliver an event, by how they ended',
    labelNames: ['result'],
    registers,
  });
  const deliveries = new Gauge({
    name: 'svc_webhook_backlog_deliveries',
    help: 'Events that are still to be delivered',
    registers,
  });
  const oldest = new Gauge({
    name: 'svc_webhook_backlog_oldest_seconds',
    help: 'Time since the oldest of them was announced',
    registers,
  });
  const overdue = new Gauge({
    name: 'svc_webhook_overdue_seconds',
    help: 'Time that an attempt has been due without being made',
    registers,
  });
  return {
    attempt: ({ error }) => attempts.inc({ result: error ?? 'delivered' }),
    backlog(backlog) {
      deliveries.set(backlog.deliveries);
      oldest.set(backlog.oldestSeconds);
      overdue.set(backlog.overdueSeconds);
    },
  };
}
