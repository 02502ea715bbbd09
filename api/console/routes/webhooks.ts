import type pg from 'pg';
import type { Sealing } from '../../../common/sealing.ts';
import { type Budget, BudgetSpentError } from '../../../webhookOperations/budget.ts';
import {
  type AttemptRow,
  DELIVERY_STATUSES,
  type DeliverySummary,
  listDeliveries,
  readDelivery,
  replayDeliveries,
  resendDeliveries,
} from '../../../webhookOperations/deliveries.ts';
import { rotateSecret } from '../../../webhookOperations/secrets.ts';
import { sendTestEvent, triggerEvent } from '../../../webhookOperations/sendTest.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  WebhookDisabledError,
  type WebhookKey,
  WebhookNotFoundError,
  type WebhookSummary,
} from '../../../webhookOperations/webhooks.ts';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { webhookKinds } from '../../../webhooks/kinds.ts';
import type { Webhooks } from '../../account/webhooks.ts';
import { webhookView } from '../../contracts/account.ts';
import { ApiError } from '../../contracts/errors.ts';
import { parseRequest } from '../../contracts/values.ts';
import { addressOf } from '../../http/middleware/burstLimit.ts';
import { rowId } from '../contracts/values.ts';
import type { ConsoleWebhook, Delivery, webhookRoutes } from '../contracts/webhook.ts';
import type { Handlers } from '../http/serveRoutes.ts';
import type { Session } from '../sessions/sessions.ts';
import type { WebhookListeners } from '../stream/webhookListeners.ts';

interface WebhookServices {
  pool: pg.Pool;
  listeners: WebhookListeners;
  /** Creates and deletes, as /v1 does. */
  webhooks: Webhooks;
  sealing: Sealing;
  /** Of deliveries that owners ask for. */
  budget: Budget;
}

/** The wallet's webhooks and their deliveries. Every statement takes the wallet. */
export function webhookHandlers(services: WebhookServices): Handlers<typeof webhookRoutes> {
  const { pool, webhooks, sealing, listeners, budget } = services;
  const show = (key: OwnedKey) => showWebhook(pool, key);
  return {
    ...deliveryHandlers(services),
    async getWebhooks({ session }) {
      const rows = await listWebhooks(pool, session.wallet);
      return { object: 'list', data: rows.map(summaryView) };
    },
    async postWebhook({ session, body }) {
      const { webhook, madeSecret } = await webhooks.create(session.wallet, body);
      return { ...webhookView(webhook), ...(madeSecret && { secret: madeSecret }) };
    },
    listenToEvents({ session: { wallet, id: sessionId }, request, response }) {
      const resumeAfter = request.get('last-event-id');
      const address = addressOf(request);
      return listeners.open({ wallet, sessionId, address, resumeAfter }, response);
    },
    async triggerEvent({ session: { wallet }, body: { event: kind } }) {
      const { example: data } = webhookKinds[kind];
      const triggered = await asApiError(triggerEvent(pool, wallet, { kind, data, budget }));
      return {
        event_id: triggered.eventId,
        deliveries: triggered.deliveries.map(({ webhookId, url, deliveryId }) => ({
          ...{ webhook_id: webhookId, url, delivery_id: String(deliveryId) },
        })),
        listeners: triggered.listeners,
      };
    },
    async deleteWebhook({ session, params }) {
      await webhooks.remove(session.wallet, params.webhook_id);
      return { id: params.webhook_id, object: 'webhook', deleted: true };
    },
    async enableWebhook(call) {
      const key = keyOf(call);
      await asApiError(enableWebhook(pool, key));
      return show(key);
    },
    async disableWebhook(call) {
      const key = keyOf(call);
      await asApiError(disableWebhook(pool, key));
      return show(key);
    },
    async rotateSecret(call) {
      const key = keyOf(call);
      const secret = await asApiError(rotateSecret(pool, sealing, key));
      const { previous_secret_until } = await show(key);
      return { secret, previous_secret_until: previous_secret_until ?? new Date().toISOString() };
    },
    async testWebhook(call) {
      const deliveryId = await asApiError(sendTestEvent(pool, keyOf(call), budget));
      return { delivery_id: String(deliveryId) };
    },
  };
}

function deliveryHandlers({
  pool,
  budget,
}: Pick<WebhookServices, 'pool' | 'budget'>): Pick<
  Handlers<typeof webhookRoutes>,
  'getDeliveries' | 'getDelivery' | 'replayDeliveries'
> {
  return {
    async getDeliveries(call) {
      const { limit, before, status, event, since, until } = call.query;
      const webhook = keyOf(call);
      await showWebhook(pool, webhook);
      const filter = { webhook, statuses: status ? [status] : DELIVERY_STATUSES, since, until };
      const rows = await listDeliveries(pool, filter, { limit: limit + 1, before, event });
      const page = rows.slice(0, limit);
      const has_more = rows.length > page.length;
      return {
        object: 'list',
        data: page.map(deliveryView),
        has_more,
        next_cursor: has_more ? String(page.at(-1)?.id) : null,
      };
    },
    async getDelivery(call) {
      const deliveryId = parseRequest(rowId, call.params.delivery_id);
      const read = readDelivery(pool, { webhook: keyOf(call), deliveryId });
      const { delivery, body, attempts } = await asApiError(read);
      return { ...deliveryView(delivery), body, attempts_made: attempts.map(attemptView) };
    },
    async replayDeliveries(call) {
      const { delivery_ids, since, until } = call.body;
      const webhook = keyOf(call);
      const replaying = delivery_ids
        ? resendDeliveries(pool, { webhook, deliveryIds: delivery_ids }, budget)
        : replayDeliveries(pool, { webhook, since, until }, budget);
      const { replayed, left, retryAfterSeconds } = await asApiError(replaying);
      return { replayed, left, retry_after: retryAfterSeconds };
    },
  };
}

type OwnedKey = WebhookKey & { wallet: string };

function keyOf(call: { session: Session; params: { webhook_id: string } }): OwnedKey {
  return { id: call.params.webhook_id, wallet: call.session.wallet };
}

async function showWebhook(pool: pg.Pool, { id, wallet }: OwnedKey): Promise<ConsoleWebhook> {
  const [webhook] = await listWebhooks(pool, wallet, id);
  if (!webhook) throw new ApiError('webhook_not_found', 'The wallet has no such webhook.');
  return summaryView(webhook);
}

/** @throws ApiError of a webhook or delivery that is not the wallet's, or disabled, or above a budget */
async function asApiError<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof WebhookNotFoundError) {
      throw new ApiError('webhook_not_found', error.message, { cause: error });
    }
    if (error instanceof WebhookDisabledError) {
      throw new ApiError('webhook_disabled', error.message, { cause: error });
    }
    if (error instanceof BudgetSpentError) {
      const { message, limit, retryAfterSeconds } = error;
      const options = { retryAfterSeconds, details: { limit }, cause: error };
      throw new ApiError('rate_limit_exceeded', message, options);
    }
    throw error;
  }
}

function summaryView(webhook: WebhookSummary): ConsoleWebhook {
  const { pending, failed, undelivered, previous_secret_until } = webhook;
  const events = WEBHOOK_KINDS.filter((kind) => webhook.events.includes(kind));
  return {
    ...webhookView({ ...webhook, events }),
    pending,
    failed,
    undelivered,
    previous_secret_until: previous_secret_until?.toISOString() ?? null,
  };
}

function deliveryView(row: DeliverySummary): Delivery {
  const { attempts: attempt, started_at } = row;
  return {
    id: String(row.id),
    event_id: row.event_id,
    event: row.event as Delivery['event'],
    created_at: row.created_at.toISOString(),
    status: row.status,
    attempts: row.attempts,
    due_at: row.due_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
    tx: row.signature,
    last_attempt: started_at && attemptView({ ...row, attempt, started_at }),
  };
}

function attemptView(row: AttemptRow): NonNullable<Delivery['last_attempt']> {
  const { attempt, started_at, duration_ms, status_code, error, response } = row;
  return {
    attempt,
    started_at: started_at.toISOString(),
    duration_ms,
    status_code,
    error,
    response,
  };
}
