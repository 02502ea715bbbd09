import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { ApiError } from '../errors.ts';

/** What makes two requests of a wallet the same one. Nothing in it tells key or body. */
export interface RequestIdentity {
  wallet: string;
  /** HMAC of the Idempotency-Key, or of the body for a request without one. */
  requestKey: Buffer;
  bodyHmac: Buffer;
  /**
   * Seals the copy of the answer; made of secrets that we do not keep. Derived when it is asked for:
   * a request's first word need not wait for it.
   */
  copyKey(): Buffer;
  /** Whether an earlier request is looked for; else this one takes its place. */
  mayRepeat: boolean;
  lifetimeSeconds: number;
}

const DAY_SECONDS = 86_400;
/** Official clients retry silently within seconds, and never later than this. */
const SILENT_RETRY_SECONDS = 600;
const KEY_BYTES = 32;
const VISIBLE_KEY = /^[\x21-\x7e]{1,255}$/;
const RETRY_COUNT = /^[1-9]\d{0,2}$/;

/**
 * Identifies requests: by their Idempotency-Key, and without one by their body, because the official
 * clients retry without a key and only count (`x-stainless-retry-count`).
 *
 * @param secret keys the HMACs, so that a short body or key cannot be guessed from the database
 */
export function createRequestIdentification(secret: Uint8Array) {
  const keyBytes = hkdfSync('sha256', secret, '', 'idempotency', KEY_BYTES);
  // A key's bytes would be read anew for each HMAC, which takes five times as long as the HMAC.
  const hmacKey = createSecretKey(Buffer.from(keyBytes));
  const hmac = (purpose: string, bytes: string | Uint8Array): Buffer =>
    createHmac('sha256', hmacKey).update(`${purpose}\0`).update(bytes).digest();

  /** @throws ApiError when the Idempotency-Key is malformed */
  return (request: {
    wallet: string;
    apiKey: string;
    rawBody: Uint8Array;
    idempotencyKey: string | undefined;
    retryCount: string | undefined;
  }): RequestIdentity => {
    const { wallet, apiKey, rawBody, idempotencyKey, retryCount } = request;
    if (idempotencyKey !== undefined && !VISIBLE_KEY.test(idempotencyKey)) {
      throw new ApiError(
        'invalid_request',
        "Invalid value for 'Idempotency-Key': must have 1 to 255 visible characters.",
        { param: 'Idempotency-Key' },
      );
    }
    const bodyHmac = hmac('body', rawBody);
    const own = idempotencyKey ?? bodyHmac.toString('base64');
    const hasKey = idempotencyKey !== undefined;
    return {
      wallet,
      bodyHmac,
      requestKey: hasKey ? hmac('key', idempotencyKey) : bodyHmac,
      copyKey: () => hmac('answer copy', `${apiKey}\0${own}`),
      mayRepeat: hasKey || RETRY_COUNT.test(retryCount ?? ''),
      lifetimeSeconds: hasKey ? DAY_SECONDS : SILENT_RETRY_SECONDS,
    };
  };
}

export type IdentifyRequest = ReturnType<typeof createRequestIdentification>;
