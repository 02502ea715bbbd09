import { z } from 'zod';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
} from '../../webhookOperations/deliveryStatuses.ts';
import { TEST_KIND, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { route } from './route.ts';
import {
  bodyOf,
  count,
  givenTime,
  jobId,
  once,
  pageLimit,
  pageOf,
  rowId,
  time,
  timeNullable,
  transactionSignature,
} from './values.ts';

const DELIVERED_KINDS = [...WEBHOOK_KINDS, TEST_KIND] as const;

const attempt = z.object({
  attempt: z.int().min(1),
  started_at: time,
  url: z.string().describe('Where it went.'),
  duration_ms: z.int().nullable().describe('Null while it runs.'),
  status_code: z.int().nullable().describe('Null without an answer.'),
  error: z.string().nullable().describe('Why it failed, in a word; null when it did not.'),
  response: z
    .string()
    .nullable()
    .describe(
      "The receiver's `Retry-After`, and the beginning of its answer: text of its own choice.",
    ),
});

/** One event for one webhook, and how its delivery goes. */
const delivery = z.object({
  id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  event: z.enum(DELIVERED_KINDS),
  job_id: jobId.nullable(),
  created_at: time.describe("The event's time by the ledger."),
  status: z.enum(DELIVERY_STATUSES),
  attempts: count,
  due_at: timeNullable.describe('Of the next attempt; null when none is due yet.'),
  delivered_at: timeNullable,
  tx: transactionSignature.nullable().describe('The transaction of the event; null of a test.'),
  last_attempt: attempt.nullable(),
});

export type Delivery = z.infer<typeof delivery>;

const deliveryList = pageOf(delivery);

const deliveryDetail = delivery.extend({
  body: z.string().describe('The raw body, the same bytes at each attempt.'),
  attempts_made: z
    .array(
      attempt.extend({
        headers: z
          .record(z.string(), z.string())
          .describe('As they were sent, but for those that the secret and the moment make.'),
      }),
    )
    .describe('In their order.'),
});

export type DeliveryDetail = z.infer<typeof deliveryDetail>;

const isStatus = (word: string) => DELIVERY_STATUSES.some((status) => status === word);
const filters = {
  webhook: z.string(once).optional().describe('The id of one webhook.'),
  status: z
    .string(once)
    .transform((text) => text.split(','))
    .refine((words): words is DeliveryStatus[] => words.every(isStatus), {
      error: 'must be delivery statuses, with commas between them',
    })
    .optional(),
  event: z.enum(DELIVERED_KINDS, { error: 'must be an event kind' }).optional(),
  event_id: z.string(once).optional(),
  job_id: jobId.optional(),
  since: givenTime.optional().describe('Events from this time on.'),
  until: givenTime.optional().describe('Events before this time.'),
};

/** Some of the wallet's deliveries. What is absent does not matter. */
const deliveryFilter = bodyOf(filters);

export type DeliveryFilter = z.output<typeof deliveryFilter>;

const deliveryQuery = z.object({
  limit: pageLimit(50),
  before: rowId.optional().describe('Deliveries older than this one.'),
  ...filters,
});

const replayRequest = bodyOf({
  delivery_ids: z
    .array(rowId, { error: 'must be an array of delivery ids' })
    .min(1, { error: 'must name at least one delivery' })
    .max(100, { error: 'must name at most 100 deliveries' })
    .optional(),
  matching: deliveryFilter.optional(),
})
  .refine(({ delivery_ids: ids, matching }) => (ids === undefined) !== (matching === undefined), {
    error: 'must have either delivery_ids or matching',
  })
  .describe('Chosen deliveries, or all that match; those that arrived too.');

const replayed = z
  .object({
    replayed: count.describe('Due now.'),
    pending: count.describe('On their way already.'),
    disabled: count.describe('Of disabled webhooks: they are as they were.'),
    left: count.describe('Above the budget of a minute: they are as they were.'),
    retry_after: z.int().nullable().describe('Seconds until the next go; null when none is left.'),
  })
  .describe('The oldest go first.');

export type Replayed = z.infer<typeof replayed>;

export const deliveryRoutes = {
  getDeliveries: route('GET', '/deliveries', ['session'], {
    summary: 'those of all webhooks by webhook, state, kind, event, job and time, newest first',
    query: deliveryQuery,
    answer: deliveryList,
  }),
  getDelivery: route('GET', '/deliveries/:delivery_id', ['session'], {
    summary: 'one with its body and its attempts',
    answer: deliveryDetail,
  }),
  replayDeliveries: route('POST', '/deliveries/replay', ['session'], {
    needsAccount: true,
    summary: 'send chosen ones again, or all that match, and say why others are not',
    body: replayRequest,
    answer: replayed,
  }),
};
