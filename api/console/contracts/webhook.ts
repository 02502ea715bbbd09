import { z } from 'zod';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import {
  createdWebhook,
  deletedWebhook,
  webhookObject,
  webhookRequest,
} from '../../contracts/account.ts';
import { time } from '../../contracts/values.ts';
import {
  deliveryDetail,
  deliveryList,
  deliveryQuery,
  replayed,
  replayRequest,
} from './delivery.ts';
import type { ConsoleRoute } from './route.ts';
import { timeNullable } from './values.ts';

/** A webhook with the numbers of deliveries that have not arrived. */
const consoleWebhook = webhookObject.extend({
  pending: z.int().min(0),
  failed: z.int().min(0),
  undelivered: z.int().min(0),
  previous_secret_until: timeNullable.describe('Until then two secrets sign; null: one does.'),
});

export type ConsoleWebhook = z.infer<typeof consoleWebhook>;

const consoleWebhookList = z.object({
  object: z.literal('list'),
  data: z.array(consoleWebhook).describe('Oldest first.'),
});

export type ConsoleWebhookList = z.infer<typeof consoleWebhookList>;

/** Validated as at the creation. The secret stays, and is changed by a rotation. */
const webhookChange = webhookRequest
  .pick({ url: true, events: true })
  .partial()
  .refine(({ url, events }) => url !== undefined || events !== undefined, {
    error: 'must have url or events',
  });

/** A new secret, shown once. */
const rotatedSecret = z.object({ secret: z.string(), previous_secret_until: time });

export type RotatedSecret = z.infer<typeof rotatedSecret>;

const sentTest = z.object({ delivery_id: z.string() });

export type SentTest = z.infer<typeof sentTest>;

const triggerRequest = z.object(
  { event: z.enum(WEBHOOK_KINDS, { error: `must be one of ${WEBHOOK_KINDS.join(', ')}` }) },
  { error: 'must be a JSON object' },
);

const triggered = z.object({
  event_id: z.string(),
  deliveries: z
    .array(z.object({ webhook_id: z.string(), url: z.string(), delivery_id: z.string() }))
    .describe('One for each webhook that subscribes to the kind and is not disabled.'),
  listeners: z.int().min(0).describe('Terminals that it is sent to.'),
});

const WEBHOOK = '/webhooks/:webhook_id';

export const webhookRoutes = {
  getWebhooks: {
    method: 'GET',
    path: '/webhooks',
    access: 'session',
    summary: "the wallet's webhooks with their pending events",
    answer: consoleWebhookList,
  },
  postWebhook: {
    method: 'POST',
    path: '/webhooks',
    access: 'fresh session',
    needsAccount: true,
    summary: 'create one; its secret is shown once, where we made it',
    body: webhookRequest,
    answer: createdWebhook,
  },
  listenToEvents: {
    method: 'POST',
    path: '/webhooks/listen',
    access: 'session',
    needsAccount: true,
    summary:
      "every event of the wallet as it comes: [the listener's stream](#the-listeners-stream)",
    form: 'text/event-stream',
  },
  triggerEvent: {
    method: 'POST',
    path: '/webhooks/trigger',
    access: 'session',
    needsAccount: true,
    summary: 'send an event that did not happen to webhooks and listeners, once',
    body: triggerRequest,
    answer: triggered,
  },
  editWebhook: {
    method: 'PATCH',
    path: WEBHOOK,
    access: 'fresh session',
    needsAccount: true,
    summary:
      'change its url or its events, and make it active; what is pending goes to the new url',
    body: webhookChange,
    answer: consoleWebhook,
  },
  deleteWebhook: {
    method: 'DELETE',
    path: WEBHOOK,
    access: 'session',
    summary: 'delete it with its deliveries',
    answer: deletedWebhook,
  },
  enableWebhook: {
    method: 'POST',
    path: `${WEBHOOK}/enable`,
    access: 'session',
    needsAccount: true,
    summary: 'send events from now on',
    answer: consoleWebhook,
  },
  disableWebhook: {
    method: 'POST',
    path: `${WEBHOOK}/disable`,
    access: 'session',
    summary: 'send nothing more; events are kept for 30 days',
    answer: consoleWebhook,
  },
  rotateSecret: {
    method: 'POST',
    path: `${WEBHOOK}/rotate`,
    access: 'fresh session',
    summary: 'make a new secret; for 24 hours the old one signs beside it',
    answer: rotatedSecret,
  },
  testWebhook: {
    method: 'POST',
    path: `${WEBHOOK}/test`,
    access: 'session',
    needsAccount: true,
    summary: 'send an event of the kind `webhook.test`',
    answer: sentTest,
  },
  getDeliveries: {
    method: 'GET',
    path: '/deliveries',
    access: 'session',
    summary: 'those of all webhooks by webhook, state, kind, event, job and time, newest first',
    query: deliveryQuery,
    answer: deliveryList,
  },
  getDelivery: {
    method: 'GET',
    path: '/deliveries/:delivery_id',
    access: 'session',
    summary: 'one with its body and its attempts',
    answer: deliveryDetail,
  },
  replayDeliveries: {
    method: 'POST',
    path: '/deliveries/replay',
    access: 'session',
    needsAccount: true,
    summary: 'send chosen ones again, or all that match, and say why others are not',
    body: replayRequest,
    answer: replayed,
  },
} as const satisfies Record<string, ConsoleRoute>;
