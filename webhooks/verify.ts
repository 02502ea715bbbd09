import { timingSafeEqual } from 'node:crypto';
import type { WebhookEvent } from './events.ts';
import { contractDigest } from './signature.ts';

/** Why a delivery is not to be trusted. */
export type VerificationFailure =
  | 'body_not_raw'
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_mismatch'
  | 'too_old'
  | 'too_new';

/** A delivery that is not ours, or not from now. Answer it with a 4xx and do nothing else. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly reason: VerificationFailure;

  constructor(reason: VerificationFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A Fetch API `Headers`, Node's `request.headers`, or a plain object; names in any case. */
export type DeliveryHeaders =
  | Iterable<[string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Proves that a delivery comes from the service and is recent, and reads it.
 *
 * @param delivery.rawBody the bytes as they arrived: a parsed and re-serialised body is another text
 * @param delivery.secret the webhook's secret; around a rotation, the old and the new one
 * @param delivery.toleranceSeconds how far the signature's time may be from now, either way
 * @param delivery.nowMs the present, in unix milliseconds
 * @throws WebhookVerificationError when the delivery cannot be trusted
 * @throws TypeError when no secret is given, which is the receiver's own mistake
 */
export function verifyWebhook(delivery: {
  rawBody: string | Uint8Array;
  headers: DeliveryHeaders;
  secret: string | readonly string[];
  toleranceSeconds?: number;
  nowMs?: number;
}): WebhookEvent {
  const { rawBody, headers, secret, toleranceSeconds = 300, nowMs = Date.now() } = delivery;
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new WebhookVerificationError('body_not_raw', 'the body must be the bytes that arrived');
  }
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // With an empty key, any sender's signature would fit.
  if (!secrets?.length || !secrets.every((key) => key))
    throw new TypeError('a secret is empty or not set');
  const signatures = readSignatures(headers);
  const matching = signatures.find((signature) =>
    secrets.some((key) => isSigned(signature, key, rawBody)),
  );
  if (!matching) {
    const isPadded = secrets.some((key) => /^[\s"'`]|[\s"'`]$/.test(key));
    const hint = isPadded ? '. The secret here has white space or a quote at an end' : '';
    const message = `no secret made this signature${hint}`;
    throw new WebhookVerificationError('signature_mismatch', message);
  }
  // After the signature, so that a genuine delivery with a wrong clock has a reason of its own.
  const ageSeconds = nowMs / 1_000 - Number(matching.time);
  if (ageSeconds < -toleranceSeconds) {
    throw new WebhookVerificationError('too_new', 'the delivery was signed in the future');
  }
  // In this form not even a NaN passes.
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError('too_old', 'the delivery was signed too long ago');
  }
  return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
}

interface Signature {
  /** Unix seconds, as spelt in the header. */
  time: string;
  digests: Buffer[];
}

const HEADER_NAMES = ['svc-signature', 'svc-signature-previous'];

/** During a rotation there are two: made with the new secret, and with the one before. */
function readSignatures(headers: DeliveryHeaders): Signature[] {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const values = entries
    .filter(([name]) => HEADER_NAMES.includes(name.toLowerCase()))
    .flatMap(([, value]) => value ?? []);
  if (values.length === 0) {
    throw new WebhookVerificationError('signature_missing', 'there is no Svc-Signature header');
  }
  return values.map(parseSignature);
}

/** Schemes other than v1 are passed over: they may come beside it one day. */
function parseSignature(header: string): Signature {
  const parts = header.split(',').map((part) => part.trim());
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice('t='.length);
  const digests = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice('v1='.length), 'hex'));
  if (time === undefined || digests.length === 0) {
    throw new WebhookVerificationError('signature_malformed', 'the signature is not t=…,v1=…');
  }
  return { time, digests };
}

function isSigned(signature: Signature, secret: string, rawBody: string | Uint8Array): boolean {
  const expected = contractDigest(secret, signature.time, rawBody);
  return signature.digests.some((digest) => timingSafeEqual(digest, expected));
}
