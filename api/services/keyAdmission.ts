import { LRUCache } from 'lru-cache';
import { gather } from '../../runtime/gather.ts';
import type { Database } from '../../runtime/postgres.ts';
import { ApiError } from '../errors.ts';
import { type KeyAndAccount, selectKeysAndAccounts } from '../statements/keyAndAccount.ts';

/** Tells whose a key is, and whether it may still be used. */
export interface KeyAdmission {
  /** @throws ApiError invalid_api_key or key_suspended */
  admit(keySha256: string): Promise<KeyAndAccount>;
  /**
   * The wallet of a key that was admitted here before, which never changes. It says nothing of
   * whether the key may be used now: only the database does.
   */
  ownerOf(keySha256: string): string | undefined;
}

/** Statements that several requests share. */
const SHARED = { itemsMax: 256, callsMax: 2 };
const OWNERS_KEPT_MAX = 10_000;

export function createKeyAdmission(database: Database): KeyAdmission {
  const owners = new LRUCache<string, string>({ max: OWNERS_KEPT_MAX });
  const find = gather<string, KeyAndAccount | undefined>({
    ...SHARED,
    call: (hashes) => selectKeysAndAccounts(database, hashes),
  });
  return {
    async admit(keySha256) {
      const key = await find(keySha256);
      if (!key || key.status === 'revoked') throw unknownKey();
      if (key.status === 'suspended') {
        throw new ApiError('key_suspended', 'The API key is suspended.');
      }
      owners.set(keySha256, key.wallet);
      return key;
    },
    ownerOf: (keySha256) => owners.get(keySha256),
  };
}

/** Of a key that nobody has, now or ever. */
export function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', 'The API key does not exist or was revoked.');
}
