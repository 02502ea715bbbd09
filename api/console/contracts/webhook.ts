import { z } from 'zod';
import { TEST_KIND, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import {
  createdWebhook,
  deletedWebhook,
  webhookObject,
  webhookRequest,
} from '../../contracts/account.ts';
import { time, transactionSignature } from '../../contracts/values.ts';
import type { ConsoleRoute } from './route.ts';
import { givenTime, pageLimit, rowId, timeNullable } from './values.ts';

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

/** A new secret, shown once. */
const rotatedSecret = z.object({ secret: z.string(), previous_secret_until: time });

export type RotatedSecret = z.infer<typeof rotatedSecret>;

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'undelivered'] as const;

const DELIVERED_KINDS = [...WEBHOOK_KINDS, TEST_KIND] as const;

const attempt = z.object({
  attempt: z.int().min(1),
  started_at: time,
  duration_ms: z.int().nullable().describe('Null while it runs.'),
  status_code: z.int().nullable().describe('Null without an answer.'),
  error: z.string().nullable().describe('Why it failed, in a word; null when it did not.'),
  response: z
    .string()
    .nullable()
    .describe("The beginning of the receiver's answer: text of its own choice."),
});

/** One event for one webhook, and how its delivery goes. */
export const delivery = z.object({
  id: z.string(),
  event_id: z.string(),
  event: z.enum(DELIVERED_KINDS),
  created_at: time.describe("The event's time by the ledger."),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int().min(0),
  due_at: timeNullable.describe('Of the next attempt; null when none is due yet.'),
  delivered_at: timeNullable,
  tx: transactionSignature.nullable().describe('The transaction of the event; null of a test.'),
  last_attempt: attempt.nullable(),
});

export type Delivery = z.infer<typeof delivery>;

const deliveryList = z.object({
  object: z.literal('list'),
  data: z.array(delivery).describe('Newest first.'),
  has_more: z.boolean(),
  next_cursor: z.string().nullable().describe('Where to go on, as `before`.'),
});

export type DeliveryList = z.infer<typeof deliveryList>;

const deliveryDetail = delivery.extend({
  body: z.string().describe('The raw body, the same bytes at each attempt.'),
  attempts_made: z.array(attempt).describe('In their order.'),
});

export type DeliveryDetail = z.infer<typeof deliveryDetail>;

const deliveryQuery = z.object({
  limit: pageLimit(50),
  before: rowId.optional().describe('Deliveries older than this one.'),
  status: z.enum(DELIVERY_STATUSES, { error: 'must be a delivery status' }).optional(),
  event: z.enum(DELIVERED_KINDS, { error: 'must be an event kind' }).optional(),
  since: givenTime.optional().describe('Events from this time on.'),
  until: givenTime.optional().describe('Events before this time.'),
});

const replayRequest = z
  .object(
    {
      delivery_ids: z
        .array(rowId, { error: 'must be an array of delivery ids' })
        .min(1, { error: 'must name at least one delivery' })
        .max(100, { error: 'must name at most 100 deliveries' })
        .optional()
        .describe('These, delivered ones too.'),
      since: givenTime.optional(),
      until: givenTime.optional(),
    },
    { error: 'must be a JSON object' },
  )
  .refine(
    ({ delivery_ids, since, until }) =>
      (delivery_ids === undefined) !== (since === undefined && until === undefined),
    { error: 'must have either delivery_ids, or since, until or both' },
  )
  .describe('Chosen deliveries; or all failed and undelivered ones of a range of time.');

export const replayed = z.object({
  replayed: z.int().min(0).describe('Deliveries due now.'),
  left: z.int().min(0).describe('Above the budget of a minute: they are as they were.'),
  retry_after: z.int().nullable().describe('Seconds until the next go; null when none is left.'),
});

export type Replayed = z.infer<typeof replayed>;

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
    path: `${WEBHOOK}/deliveries`,
    access: 'session',
    summary: 'its deliveries by state, kind and time, newest first',
    query: deliveryQuery,
    answer: deliveryList,
  },
  getDelivery: {
    method: 'GET',
    path: `${WEBHOOK}/deliveries/:delivery_id`,
    access: 'session',
    summary: 'one with its body and its attempts',
    answer: deliveryDetail,
  },
  replayDeliveries: {
    method: 'POST',
    path: `${WEBHOOK}/replay`,
    access: 'session',
    needsAccount: true,
    summary: 'send chosen deliveries again, or those of a range that were not delivered',
    body: replayRequest,
    answer: replayed,
  },
} as const satisfies Record<string, ConsoleRoute>;
