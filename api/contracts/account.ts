import { z } from 'zod';
import { normalizeUrl } from '../../common/net/urls.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import type { WebhookRow } from '../sql/accounts.ts';
import { credits, ledgerAddress, textOfLength, time, usdc } from './values.ts';

const limit = credits.nullable().describe('Null without a limit.');

/** The balance that a key spends from. */
export const accountObject = z.object({
  wallet: ledgerAddress.describe('The wallet that owns the key.'),
  credits_remaining: credits.describe('Credits available; those locked for jobs are not in it.'),
  usdc_value: usdc.describe('The same in stablecoin units.'),
  last_topup_at: time.nullable().describe('Null before the first purchase.'),
  api_key_created_at: time,
  charged_today_credits: credits.describe(
    'Our choice: what was charged of the locks since midnight UTC. `limits.per_day_credits` bounds ' +
      'it with what is locked of them. What a dispute repays stays in it.',
  ),
  locked_now_credits: credits.describe('Our choice: what running jobs hold.'),
  limits: z
    .object({ per_job_credits: limit, per_day_credits: limit })
    .describe('Our choice: what the wallet lets this service lock.'),
});

export type AccountObject = z.infer<typeof accountObject>;

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

const secret = textOfLength(16, 255);

/** The body of POST /v1/webhooks. Unknown fields are ignored; null counts as absent. */
export const webhookRequest = z.object(
  {
    url,
    events,
    secret: secret
      .nullish()
      .describe('Signs deliveries; 16 to 255 characters. Our choice: without one we make one.'),
  },
  { error: 'must be a JSON object' },
);

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

export const webhookList = z.object({
  object: z.literal('list'),
  data: z.array(webhookObject).describe('Newest first.'),
});

export type WebhookList = z.infer<typeof webhookList>;

export const deletedWebhook = z.object({
  id: z.string(),
  object: z.literal('webhook'),
  deleted: z.literal(true),
});

export type DeletedWebhook = z.infer<typeof deletedWebhook>;

/** A webhook as its owner sees it: without its secret. */
export function webhookView(webhook: WebhookRow): WebhookObject {
  return {
    id: webhook.id,
    url: webhook.url,
    events: inPublishedOrder(webhook.events),
    created_at: webhook.created_at.toISOString(),
    status: webhook.status,
  };
}

/** A choice of events is a set, so it is shown in a fixed order. */
function inPublishedOrder(kinds: readonly EventKind[]): EventKind[] {
  return WEBHOOK_KINDS.filter((kind) => kinds.includes(kind));
}
