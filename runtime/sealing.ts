import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Keeps texts secret at rest: what is stored tells nothing to whoever reads the database alone. */
export interface Sealing {
  seal(text: string): Buffer;
  /** @throws SealingError when the bytes were sealed under another key, altered or cut */
  open(sealed: Uint8Array): string;
}

/** Sealed bytes that this key does not open. */
export class SealingError extends Error {
  override name = 'SealingError';
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The first byte of what is sealed, so that another form can come beside this one. */
const VERSION = 1;

/**
 * AES-256-GCM as `version ‖ nonce ‖ tag ‖ ciphertext`. A random nonce is safe for 2^32 texts under
 * one key, far more than there will be secrets.
 *
 * @param keyBytes 32
 */
export function createSealing(keyBytes: Uint8Array): Sealing {
  const key = createSecretKey(keyBytes);
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed) {
      const nonceEnd = 1 + NONCE_BYTES;
      const tagEnd = nonceEnd + TAG_BYTES;
      if (sealed[0] !== VERSION || sealed.length < tagEnd) {
        throw new SealingError('the bytes are not in a sealed form that is known');
      }
      const nonce = sealed.subarray(1, nonceEnd);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(sealed.subarray(nonceEnd, tagEnd));
      const text = decipher.update(sealed.subarray(tagEnd));
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SealingError('sealed under another key, or altered since', { cause });
      }
    },
  };
}

/** A key for `createSealing` in the environment: base64 of 32 bytes. */
export const sealingKeySetting = z
  .base64()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((key) => key.length === KEY_BYTES, { error: 'must be base64 of 32 bytes' });
