import { z } from 'zod';
import { normalizeUrl } from '../../common/net/urls.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { route } from './route.ts';
import { bodyOf, count, done, listOf, textOfLength, time, timeNullable } from './values.ts';

/** In UTF-8. With the wallet and all kinds of events, it must fit into an entry of the index. */
const URL_BYTES_MAX = 2_048;

const url = z
  .string({ error: 'must be a string' })
  // URL parsers drop or encode such characters in different ways.
  .refine((text) => !/[\s\p{C}]/u.test(text) && URL.canParse(text), { error: 'must be a URL' })
  .meta({
    format: 'uri',
    description:
      'An https endpoint. Our choice: at most 2,048 bytes, no credentials, port 443 or one from ' +
      '1024 up, and it must lead to a public address. It is kept as the URL standard spells it, ' +
      'without a fragment.',
  })
  .transform(normalizeUrl)
  .refine((text) => Buffer.byteLength(text) <= URL_BYTES_MAX, {
    error: `must have at most ${URL_BYTES_MAX} bytes`,
  });

const events = z
  .array(z.enum(WEBHOOK_KINDS, { error: `must be one of ${WEBHOOK_KINDS.join(', ')}` }), {
    error: 'must be an array of event kinds',
  })
  .min(1, { error: 'must name at least one event kind' })
  .max(WEBHOOK_KINDS.length, { error: `must name at most ${WEBHOOK_KINDS.length} event kinds` })
  .superRefine((kinds, context) => {
    const repeated = kinds.findIndex((kind, index) => kinds.indexOf(kind) !== index);
    if (repeated === -1) return;
    context.addIssue({ code: 'custom', path: [repeated], message: 'must not be given twice' });
  })
  .meta({ uniqueItems: true, description: 'The kinds of events to send.' });

/** A receiver that reads it from a file or a setting would lose them, or keep what the other lost. */
const secret = textOfLength(16, 255).refine((text) => !/^[\s"'`]|[\s"'`]$/.test(text), {
  error: 'must not begin or end with white space or a quote',
});

/** The body of POST /v1/webhooks. Unknown fields are ignored; null counts as absent. */
export const webhookRequest = bodyOf({
  url,
  events,
  secret: secret
    .nullish()
    .describe(
      'Signs deliveries; 16 to 255 characters, none at an end a quote or white space. Our choice: without one we make one.',
    ),
});

export type WebhookRequest = z.infer<typeof webhookRequest>;

/** An endpoint that events are sent to. */
export const webhookObject = z.object({
  id: z.string().regex(/^wh_[0-9a-f]{32}$/),
  url: z.string().meta({ format: 'uri' }),
  events: z.array(z.enum(WEBHOOK_KINDS)),
  created_at: time,
  status: z
    .enum(['active', 'failed', 'disabled'])
    .describe(
      'Our choice beside `active`: `failed` after five failed attempts of one event, `disabled` by ' +
        'the operator. Its events are kept, and can be replayed.',
    ),
});

export type WebhookObject = z.infer<typeof webhookObject>;

export const createdWebhook = webhookObject.extend({
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
    .optional()
    .describe('Only where we made it, and only here. Our choice: your own is never echoed.'),
});

export type CreatedWebhook = z.infer<typeof createdWebhook>;

export const webhookList = listOf(webhookObject, 'Newest first.');

export const deletedWebhook = z.object({
  id: z.string(),
  object: z.literal('webhook'),
  deleted: z.literal(true),
});

/** A webhook with the numbers of deliveries that have not arrived. */
const consoleWebhook = webhookObject.extend({
  pending: count,
  failed: count,
  undelivered: count,
  recent_attempts: count.describe('Those of its newest 20 events that have ended.'),
  recent_failures: count.describe('How many of these failed.'),
  last_success_at: timeNullable,
  next_attempt_at: timeNullable.describe('Of an event whose attempt failed; null: none waits.'),
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
  listeners: count.describe('Terminals that it is sent to.'),
});

const statusCode = z.int().min(0).max(999).describe('Of its receiver; 0 without an answer.');

const listenerAnswer = bodyOf({ event_id: z.string().max(64), status_code: statusCode });

const listenerAnswers = z.object({
  status_codes: z.array(statusCode.nullable()).describe('One a terminal; null before its answer.'),
});

const WEBHOOK = '/webhooks/:webhook_id';

export const webhookRoutes = {
  createWebhook: route('POST', '/webhooks', ['key', 'fresh session'], {
    needsAccount: true,
    summary: 'create one; its secret is shown once, where we made it',
    body: webhookRequest,
    answer: createdWebhook,
    docs: {
      tag: 'Webhooks',
      summary: 'Create a webhook',
      description:
        'Sends the chosen events to an endpoint of yours. Our choice: `url` and `events` are ' +
        'required; a wallet has at most 20, and has to have a credit account on the ledger.',
      errors: ['account_required', 'duplicate_webhook'],
    },
  }),
  listWebhooks: route('GET', '/webhooks', ['key', 'session'], {
    summary: "the wallet's webhooks with their pending events",
    answer: webhookList,
    pageAnswer: consoleWebhookList,
    docs: {
      tag: 'Webhooks',
      summary: 'List webhooks',
      description: 'Our choice of form: a list object. No secret is in it.',
    },
  }),
  deleteWebhook: route('DELETE', WEBHOOK, ['key', 'session'], {
    summary: 'delete it with its deliveries',
    answer: deletedWebhook,
    docs: {
      tag: 'Webhooks',
      summary: 'Delete a webhook',
      description: 'Our choice of form: the answer says what was deleted.',
      pathParameters: { webhook_id: 'The id of a webhook of the wallet.' },
      errors: ['webhook_not_found'],
    },
  }),
};

/** What owners do with their webhooks on a page. */
export const webhookOperationRoutes = {
  listenToEvents: route('POST', '/webhooks/listen', ['session'], {
    needsAccount: true,
    summary:
      "every event of the wallet as it comes: [the listener's stream](#the-listeners-stream)",
    form: 'text/event-stream',
  }),
  answerEvent: route('POST', '/webhooks/listen/answers', ['session'], {
    summary: "say how the receiver behind the session's listener answered an event",
    body: listenerAnswer,
    answer: done,
  }),
  getAnswers: route('GET', '/webhooks/listen/answers/:event_id', ['session'], {
    summary: "how the receivers behind the wallet's listeners answered an event",
    answer: listenerAnswers,
  }),
  triggerEvent: route('POST', '/webhooks/trigger', ['session'], {
    needsAccount: true,
    summary: 'send an event that did not happen to webhooks and listeners, once',
    body: triggerRequest,
    answer: triggered,
  }),
  editWebhook: route('PATCH', WEBHOOK, ['fresh session'], {
    needsAccount: true,
    summary:
      'change its url or its events, and make it active; what is pending goes to the new url',
    body: webhookChange,
    answer: consoleWebhook,
  }),
  enableWebhook: route('POST', `${WEBHOOK}/enable`, ['session'], {
    needsAccount: true,
    summary: 'send events from now on',
    answer: consoleWebhook,
  }),
  disableWebhook: route('POST', `${WEBHOOK}/disable`, ['session'], {
    summary: 'send nothing more; events are kept for 30 days',
    answer: consoleWebhook,
  }),
  rotateSecret: route('POST', `${WEBHOOK}/rotate`, ['fresh session'], {
    summary: 'make a new secret; for 24 hours the old one signs beside it',
    answer: rotatedSecret,
  }),
  testWebhook: route('POST', `${WEBHOOK}/test`, ['session'], {
    needsAccount: true,
    summary: 'send an event of the kind `webhook.test`',
    answer: sentTest,
  }),
};
