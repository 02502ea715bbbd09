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
import { route } from './route.ts';
import { bodyOf, listOf, timeNullable } from './values.ts';

/** A webhook with the numbers of deliveries that have not arrived. */
const consoleWebhook = webhookObject.extend({
  pending: z.int().min(0),
  failed: z.int().min(0),
  undelivered: z.int().min(0),
  previous_secret_until: timeNullable.describe('Until then two secrets sign; null: one does.'),
});

export type ConsoleWebhook = z.infer<typeof consoleWebhook>;

const consoleWebhookList = listOf(consoleWebhook, 'Oldest first.');

/** Validated as at the creation. The secret stays, and is changed by a rotation. */
const webhookChange = webhookRequest
  .pick({ url: true, events: true })
  .partial()
  .refine(({ url, events }) => url !== undefined || events !== undefined, {
    error: 'must have url or events',
  });

/** A new secret, shown once. */
const rotatedSecret = z.object({ secret: z.string(), previous_secret_until: time });

const sentTest = z.object({ delivery_id: z.string() });

const triggerRequest = bodyOf({
  event: z.enum(WEBHOOK_KINDS, { error: `must be one of ${WEBHOOK_KINDS.join(', ')}` }),
});

const triggered = z.object({
  event_id: z.string(),
  deliveries: z
    .array(z.object({ webhook_id: z.string(), url: z.string(), delivery_id: z.string() }))
    .describe('One for each webhook that subscribes to the kind and is not disabled.'),
  listeners: z.int().min(0).describe('Terminals that it is sent to.'),
});

const WEBHOOK = '/webhooks/:webhook_id';

export const webhookRoutes = {
  getWebhooks: route('GET', '/webhooks', 'session', {
    summary: "the wallet's webhooks with their pending events",
    answer: consoleWebhookList,
  }),
  postWebhook: route('POST', '/webhooks', 'fresh session', {
    needsAccount: true,
    summary: 'create one; its secret is shown once, where we made it',
    body: webhookRequest,
    answer: createdWebhook,
  }),
  listenToEvents: route('POST', '/webhooks/listen', 'session', {
    needsAccount: true,
    summary:
      "every event of the wallet as it comes: [the listener's stream](#the-listeners-stream)",
    form: 'text/event-stream',
  }),
  triggerEvent: route('POST', '/webhooks/trigger', 'session', {
    needsAccount: true,
    summary: 'send an event that did not happen to webhooks and listeners, once',
    body: triggerRequest,
    answer: triggered,
  }),
  editWebhook: route('PATCH', WEBHOOK, 'fresh session', {
    needsAccount: true,
    summary:
      'change its url or its events, and make it active; what is pending goes to the new url',
    body: webhookChange,
    answer: consoleWebhook,
  }),
  deleteWebhook: route('DELETE', WEBHOOK, 'session', {
    summary: 'delete it with its deliveries',
    answer: deletedWebhook,
  }),
  enableWebhook: route('POST', `${WEBHOOK}/enable`, 'session', {
    needsAccount: true,
    summary: 'send events from now on',
    answer: consoleWebhook,
  }),
  disableWebhook: route('POST', `${WEBHOOK}/disable`, 'session', {
    summary: 'send nothing more; events are kept for 30 days',
    answer: consoleWebhook,
  }),
  rotateSecret: route('POST', `${WEBHOOK}/rotate`, 'fresh session', {
    summary: 'make a new secret; for 24 hours the old one signs beside it',
    answer: rotatedSecret,
  }),
  testWebhook: route('POST', `${WEBHOOK}/test`, 'session', {
    needsAccount: true,
    summary: 'send an event of the kind `webhook.test`',
    answer: sentTest,
  }),
  getDeliveries: route('GET', '/deliveries', 'session', {
    summary: 'those of all webhooks by webhook, state, kind, event, job and time, newest first',
    query: deliveryQuery,
    answer: deliveryList,
  }),
  getDelivery: route('GET', '/deliveries/:delivery_id', 'session', {
    summary: 'one with its body and its attempts',
    answer: deliveryDetail,
  }),
  replayDeliveries: route('POST', '/deliveries/replay', 'session', {
    needsAccount: true,
    summary: 'send chosen ones again, or all that match, and say why others are not',
    body: replayRequest,
    answer: replayed,
  }),
};
