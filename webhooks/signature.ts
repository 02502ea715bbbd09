import { createHmac, randomBytes } from 'node:crypto';

/** A webhook's secrets; while a rotation overlaps, the previous one signs too. */
export interface SigningSecrets {
  current: string;
  previous?: string | undefined;
}

const USER_AGENT = 'svc-webhooks';

/** All headers of a delivery, but for those of HTTP itself. @param attempt from 1 */
export function deliveryHeaders({
  attempt,
  ...delivery
}: Parameters<typeof webhookHeaders>[0] & { attempt: number }): Record<string, string> {
  return { ...plainHeaders(delivery.eventId, attempt), ...webhookHeaders(delivery) };
}

/** Those of them that neither a secret nor the moment makes: they can be shown later. */
export function plainHeaders(eventId: string, attempt: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'Svc-Event-Id': eventId,
    'Svc-Delivery-Attempt': String(attempt),
    'webhook-id': eventId,
  };
}

/**
 * The headers that prove where a delivery comes from: ours, and those of the Standard Webhooks
 * specification, so that its verifiers work unchanged.
 *
 * @param eventId the same at each attempt, so that receivers can drop what they have seen
 * @param body exactly as it is sent
 * @param nowMs when this attempt is made
 */
export function webhookHeaders(delivery: {
  secrets: SigningSecrets;
  eventId: string;
  body: string;
  nowMs: number;
}): Record<string, string> {
  const { eventId, body, nowMs } = delivery;
  const { current, previous } = delivery.secrets;
  const time = String(Math.floor(nowMs / 1_000));
  const contract = (secret: string) =>
    `t=${time},v1=${contractDigest(secret, time, body).toString('hex')}`;
  const standard = (secret: string) => `v1,${standardDigest(secret, eventId, time, body)}`;
  return {
    'Svc-Signature': contract(current),
    ...(previous !== undefined && { 'Svc-Signature-Previous': contract(previous) }),
    'webhook-id': eventId,
    'webhook-timestamp': time,
    'webhook-signature':
      previous === undefined ? standard(current) : `${standard(current)} ${standard(previous)}`,
  };
}

/**
 * The digest in `Svc-Signature`.
 *
 * @param secret used whole, as UTF-8, in any form
 * @param time unix seconds, as the header spells them
 */
export function contractDigest(secret: string, time: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${time}.`).update(body).digest();
}

/** The digest in `webhook-signature`, in base64. */
function standardDigest(secret: string, id: string, time: string, body: string): string {
  return createHmac('sha256', standardKey(secret)).update(`${id}.${time}.${body}`).digest('base64');
}

const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * Standard Webhooks secrets are base64 behind `whsec_`. A secret of any other form, as clients may
 * bring along, is its own bytes.
 */
function standardKey(secret: string): Buffer {
  const encoded = STANDARD_SECRET.exec(secret)?.[1];
  return encoded === undefined || encoded.length % 4 !== 0
    ? Buffer.from(secret, 'utf8')
    : Buffer.from(encoded, 'base64');
}

const SECRET_BYTES = 32;

/** A new signing secret, in the form that Standard Webhooks verifiers expect. */
export function generateSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
