import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { z } from 'zod';

export type Sealing = ReturnType<typeof createSealing>;

/** Sealed bytes that none of the keys opens. */
export class SealingError extends Error {
  override name = 'SealingError';
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_END = 1 + NONCE_BYTES;
const TAG_END = NONCE_END + TAG_BYTES;
/** The first byte of what is sealed, so that another form can come beside this one. */
const VERSION = 1;

/**
 * Keeps texts secret at rest: the stored bytes are useless without the key, which no database has.
 *
 * AES-256-GCM as `version ‖ nonce ‖ tag ‖ ciphertext`. A random nonce is safe for 2^32 texts under
 * one key, far more than there will be secrets.
 *
 * @param keyBytes 32, the key that seals
 * @param previousKeyBytes 32, the key that also opens during a change of keys
 */
export function createSealing(keyBytes: Uint8Array, previousKeyBytes?: Uint8Array) {
  const key = createSecretKey(keyBytes);
  const keys = previousKeyBytes ? [key, createSecretKey(previousKeyBytes)] : [key];

  function open(sealed: Uint8Array): { text: string; openedBy: KeyObject } {
    if (sealed[0] !== VERSION || sealed.length < TAG_END) {
      throw new SealingError('the bytes have an unknown form');
    }
    for (const openedBy of keys) {
      const text = openUnder(openedBy, sealed);
      if (text !== undefined) return { text, openedBy };
    }
    throw new SealingError('sealed under another key, or altered since');
  }

  return {
    seal: (text: string): Buffer => sealUnder(key, text),
    /** @throws SealingError when the bytes were sealed under a key that is not known, altered or cut */
    open: (sealed: Uint8Array): string => open(sealed).text,
    /**
     * @returns the same text under the key that seals; undefined where it is under that one already
     * @throws SealingError as `open` does
     */
    reseal(sealed: Uint8Array): Buffer | undefined {
      const { text, openedBy } = open(sealed);
      return openedBy === key ? undefined : sealUnder(key, text);
    },
  };
}

function sealUnder(key: KeyObject, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/** @returns undefined when the tag is not of this key */
function openUnder(key: KeyObject, sealed: Uint8Array): string | undefined {
  const nonce = sealed.subarray(1, NONCE_END);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(NONCE_END, TAG_END));
  const text = decipher.update(sealed.subarray(TAG_END));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** A key for `createSealing` in the environment: base64 of 32 bytes. */
export const sealingKeySetting = z
  // Only base64 may reach the comparison of keys.
  .base64({ abort: true })
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((key) => key.length === KEY_BYTES, { error: 'must be base64 of 32 bytes' });

/** The key that seals, and the one that only opens during a change of keys. */
export const secretsKeySettings = {
  SVC_SECRETS_KEY: sealingKeySetting.describe(
    'base64 of 32 random bytes, which seals webhook secrets: openssl rand -base64 32',
  ),
  SVC_SECRETS_KEY_PREVIOUS: sealingKeySetting
    .optional()
    .describe(
      'while that key is changed, the other one: opens, and seals nothing; see docs/backup.md',
    ),
};

/**
 * For settings with both keys: a previous key that equals the present one has no effect, so it is a
 * mistake.
 */
export function hasDistinctKeys(settings: {
  SVC_SECRETS_KEY: Buffer;
  SVC_SECRETS_KEY_PREVIOUS?: Buffer | undefined;
}): boolean {
  return !settings.SVC_SECRETS_KEY_PREVIOUS?.equals(settings.SVC_SECRETS_KEY);
}

/** The fault where `hasDistinctKeys` does not hold. */
export const SAME_KEYS = {
  path: ['SVC_SECRETS_KEY_PREVIOUS'],
  error: 'must be another key than SVC_SECRETS_KEY',
};
