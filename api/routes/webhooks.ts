import type { Database } from '../../common/postgres.ts';
import { listWebhooks, type WebhookSummary } from '../../webhookOperations/webhooks.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import type { Webhooks } from '../account/webhooks.ts';
import type { ConsoleWebhook, WebhookObject, webhookRoutes } from '../contracts/webhook.ts';
import type { WebhookRow } from '../sql/accounts.ts';
import type { Handlers } from './serveRoutes.ts';

export interface WebhookServices {
  database: Database;
  webhooks: Webhooks;
}

/** The wallet's webhooks. The answer to a creation is the only one that ever shows a secret that we made. */
export function webhookHandlers({
  database,
  webhooks,
}: WebhookServices): Handlers<typeof webhookRoutes> {
  return {
    async createWebhook({ wallet, body }) {
      const { webhook, madeSecret } = await webhooks.create(wallet, body);
      return { ...webhookView(webhook), ...(madeSecret && { secret: madeSecret }) };
    },
    async listWebhooks({ wallet, key }) {
      const data = key
        ? (await webhooks.list(wallet)).map(webhookView)
        : (await listWebhooks(database, wallet)).map(summaryView);
      return { object: 'list', data };
    },
    /** Nothing more is sent, except deliveries that have begun. */
    async deleteWebhook({ wallet, params: { webhook_id: id } }) {
      await webhooks.remove(wallet, id);
      return { id, object: 'webhook', deleted: true };
    },
  };
}

/** A webhook as its owner sees it: without its secret. */
function webhookView(
  webhook: Omit<WebhookRow, 'events'> & { events: readonly string[] },
): WebhookObject {
  return {
    id: webhook.id,
    url: webhook.url,
    // A choice of events is a set, so it is shown in a fixed order.
    events: WEBHOOK_KINDS.filter((kind) => webhook.events.includes(kind)),
    created_at: webhook.created_at.toISOString(),
    status: webhook.status,
  };
}

/** The same for a page, with the numbers of what has not arrived. */
export function summaryView(webhook: WebhookSummary): ConsoleWebhook {
  const { pending, failed, undelivered, recent_attempts, recent_failures } = webhook;
  const { last_success_at, next_attempt_at, previous_secret_until } = webhook;
  return {
    ...webhookView(webhook),
    ...{ pending, failed, undelivered, recent_attempts, recent_failures },
    last_success_at: last_success_at?.toISOString() ?? null,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    previous_secret_until: previous_secret_until?.toISOString() ?? null,
  };
}
