import { gather } from '../../common/batchCalls.ts';
import type { Database } from '../../common/postgres.ts';
import { ApiError } from '../http/contracts/errors.ts';
import { type KeyAndAccount, selectKeysAndAccounts } from '../sql/accounts.ts';

/** Tells whose a key is, and whether it may still be used. */
export interface KeyAdmission {
  /** @throws ApiError invalid_api_key or key_suspended */
  admit(keySha256: string): Promise<KeyAndAccount>;
}

/** Statements that several requests share. */
const SHARED = { itemsMax: 256, callsMax: 2 };

export function createKeyAdmission(database: Database): KeyAdmission {
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
      return key;
    },
  };
}

/** Of a key that nobody has, now or ever. */
export function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', 'The API key does not exist or was revoked.');
}
