import type { RequestHandler, Response } from 'express';
import { gather } from '../../runtime/gather.ts';
import type { Database } from '../../runtime/postgres.ts';
import { ApiError } from '../errors.ts';
import { hashKey } from '../services/keys.ts';
import { type KeyAndAccount, selectKeysAndAccounts } from '../statements/keyAndAccount.ts';
import type { BurstLimit } from './burstLimit.ts';

/** Statements that several requests share. */
const SHARED = { itemsMax: 256, callsMax: 2 };
const KEY_FORMAT = /^svc_live_[A-Za-z0-9]{32}$/;

/**
 * Admits requests that carry a live key. Refusals are limited apart from other requests, so that
 * guessing keys is slow and never uses up what a proxy's honest clients share.
 */
export function authenticate(options: {
  database: Database;
  refusals: BurstLimit;
}): RequestHandler {
  const { database, refusals } = options;
  const findKey = gather<string, KeyAndAccount | undefined>({
    ...SHARED,
    call: (hashes) => selectKeysAndAccounts(database, hashes),
  });
  return async (request, response, next) => {
    refusals.check(request);
    try {
      response.locals.apiKey = bearerOf(request.get('authorization'));
      response.locals.key = await admitKey(findKey, apiKeyOf(response));
    } catch (error) {
      if (error instanceof ApiError) refusals.take(request);
      throw error;
    }
    next();
  };
}

/** The key and account that `authenticate` has put on this response. */
export function authenticated(response: Response): KeyAndAccount {
  return response.locals.key as KeyAndAccount;
}

/** The key itself, of this request only: it is kept nowhere. */
export function apiKeyOf(response: Response): string {
  return response.locals.apiKey as string;
}

function bearerOf(authorization: string | undefined): string {
  const [scheme, key] = authorization?.split(/ +/, 2) ?? [];
  if (scheme?.toLowerCase() !== 'bearer' || !key) {
    throw new ApiError(
      'missing_api_key',
      'No API key was sent. Send it as `Authorization: Bearer <API_KEY>`.',
    );
  }
  return key;
}

async function admitKey(
  findKey: (keySha256: string) => Promise<KeyAndAccount | undefined>,
  key: string,
): Promise<KeyAndAccount> {
  const found = KEY_FORMAT.test(key) ? await findKey(hashKey(key)) : undefined;
  if (!found || found.status === 'revoked') {
    throw new ApiError('invalid_api_key', 'The API key does not exist or was revoked.');
  }
  if (found.status === 'suspended') {
    throw new ApiError('key_suspended', 'The API key is suspended.');
  }
  return found;
}
