import { Counter, type Registry } from 'prom-client';
import type { WebhookCheck } from './ensureWebhook.ts';

/** What Helius did for the mirror, in Prometheus's form. */
export interface HeliusMetrics {
  /** A request to the webhook's endpoint was answered. */
  answered(status: number): void;
  checked(result: WebhookCheck | 'failed'): void;
  /** Its history was asked for a stretch of the ledger. */
  listed(result: 'listed' | 'failed'): void;
}

export function createHeliusMetrics(registry: Registry): HeliusMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'svc_helius_webhook_requests_total',
    help: 'Requests to the endpoint of the Helius webhook, by the status of the answer',
    labelNames: ['status'],
    registers,
  });
  const checks = new Counter({
    name: 'svc_helius_webhook_checks_total',
    help: 'Checks of the webhook at Helius, by what had to be done',
    labelNames: ['result'],
    registers,
  });
  const histories = new Counter({
    name: 'svc_helius_histories_total',
    help: 'Histories asked of Helius; after a failed one the ordinary list goes on',
    labelNames: ['result'],
    registers,
  });
  return {
    answered: (status) => requests.inc({ status }),
    checked: (result) => checks.inc({ result }),
    listed: (result) => histories.inc({ result }),
  };
}
