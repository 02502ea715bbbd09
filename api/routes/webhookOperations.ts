import type pg from 'pg';
import type { Sealing } from '../../common/sealing.ts';
import type { Budget } from '../../webhookOperations/budget.ts';
import { recordAnswer, selectAnswers } from '../../webhookOperations/listeners.ts';
import { rotateSecret } from '../../webhookOperations/secrets.ts';
import { sendTestEvent, triggerEvent } from '../../webhookOperations/sendTest.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  type WebhookKey,
} from '../../webhookOperations/webhooks.ts';
import { webhookKinds } from '../../webhooks/kinds.ts';
import { asApiError } from '../account/refusals.ts';
import type { Webhooks } from '../account/webhooks.ts';
import { ApiError } from '../contracts/errors.ts';
import type { ConsoleWebhook, webhookOperationRoutes } from '../contracts/webhook.ts';
import { addressOf } from '../http/middleware/authentication.ts';
import type { WebhookListeners } from '../stream/webhookListeners.ts';
import type { Handlers } from './serveRoutes.ts';
import { summaryView } from './webhooks.ts';

/** What owners do with their webhooks on a page. Every statement takes the wallet. */
export function webhookOperationHandlers(services: {
  pool: pg.Pool;
  listeners: WebhookListeners;
  webhooks: Webhooks;
  sealing: Sealing;
  /** Of deliveries that owners ask for. */
  budget: Budget;
}): Handlers<typeof webhookOperationRoutes> {
  const { pool, webhooks, sealing, listeners, budget } = services;
  const show = (key: OwnedKey) => showWebhook(pool, key);
  /** Changes a webhook, and shows it as it then is. */
  const changing = (change: (key: OwnedKey) => Promise<unknown>) => async (call: OwnedCall) => {
    const key = keyOf(call);
    await asApiError(change(key));
    return show(key);
  };
  return {
    listenToEvents({ wallet, session: { id: sessionId }, request, response }) {
      const resumeAfter = request.get('last-event-id');
      const address = addressOf(request);
      return listeners.open({ wallet, sessionId, address, resumeAfter }, response);
    },
    async answerEvent({ session: { id: sessionId }, body: { event_id: eventId, status_code } }) {
      await recordAnswer(pool, { sessionId, eventId, statusCode: status_code });
      return { done: true };
    },
    async getAnswers({ wallet, params: { event_id: eventId } }) {
      return { status_codes: await selectAnswers(pool, { wallet, eventId }) };
    },
    async triggerEvent({ wallet, body: { event: kind } }) {
      const { example: data } = webhookKinds[kind];
      const triggered = await asApiError(triggerEvent(pool, wallet, { kind, data, budget }));
      return {
        event_id: triggered.eventId,
        deliveries: triggered.deliveries.map(({ webhookId, url, deliveryId }) => ({
          webhook_id: webhookId,
          url,
          delivery_id: String(deliveryId),
        })),
        listeners: triggered.listeners,
      };
    },
    async editWebhook(call) {
      const key = keyOf(call);
      await webhooks.edit(key.wallet, key.id, call.body, budget);
      return show(key);
    },
    enableWebhook: changing((key) => enableWebhook(pool, key)),
    disableWebhook: changing((key) => disableWebhook(pool, key)),
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

type OwnedKey = WebhookKey & { wallet: string };
type OwnedCall = { wallet: string; params: { webhook_id: string } };

function keyOf({ wallet, params }: OwnedCall): OwnedKey {
  return { id: params.webhook_id, wallet };
}

async function showWebhook(pool: pg.Pool, { id, wallet }: OwnedKey): Promise<ConsoleWebhook> {
  const [webhook] = await listWebhooks(pool, wallet, id);
  if (!webhook) throw new ApiError('webhook_not_found', 'The wallet has no such webhook.');
  return summaryView(webhook);
}
