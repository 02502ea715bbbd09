import { Counter, Gauge, type Registry } from 'prom-client';
import type { Backlog } from './deliver/measureBacklog.ts';
import type { Outcome } from './deliver/outcome.ts';

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
