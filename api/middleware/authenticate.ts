import type { RequestHandler, Response } from 'express';
import { gather } from '../../runtime/gather.ts';
import type { Database } from '../../runtime/postgres.ts';
import { ApiError } from '../errors.ts';
import { hashKey } from '../services/keys.ts';
import { type KeyAndAccount, selectKeysAndAccounts } from '../statements/keyAndAccount.ts';
import type { BurstLimit } from './burstLimit.ts';
import { requireReadablePath } from './malformedHttp.ts';

/** Statements that several requests share. */
const SHARED = { itemsMax: 256, callsMax: 2 };
const KEY_FORMAT = /^svc_live_[A-Za-z0-9]{32}$/;
const BEARER = /^bearer +(\S+)$/i;

/**
 * Admits requests that carry a live key. Refusals are limited apart from other requests: whoever
 * guesses is soon told to wait, and a live key is admitted all the same, since one address may be
 * that of many clients. What is wrong with a path is told only to those who were admitted.
 *
 * No answer is kept by caches on its way: what it tells is the wallet's own.
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
    response.set('cache-control', 'no-store');
    try {
      response.locals.apiKey = bearerOf(request.get('authorization'));
      response.locals.key = await admitKey(findKey, apiKeyOf(response));
    } catch (error) {
      if (error instanceof ApiError) {
        // Nothing is awaited between the two, so that requests at the same time get no more.
        refusals.check(request);
        refusals.take(request);
      }
      throw error;
    }
    requireReadablePath(request);
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

/** A header that holds something else than a key names no key that exists; only none is missing. */
function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new ApiError(
      'missing_api_key',
      'No API key was sent. Send it as `Authorization: Bearer <API_KEY>`.',
    );
  }
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) {
    throw new ApiError(
      'invalid_api_key',
      'The Authorization header must be `Bearer <API_KEY>` and nothing else.',
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
