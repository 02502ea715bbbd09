import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../errors.ts';
import { type KeyAdmission, unknownKey } from '../services/keyAdmission.ts';
import { hashKey } from '../services/keys.ts';
import type { KeyAndAccount } from '../statements/keyAndAccount.ts';
import type { BurstLimit } from './burstLimit.ts';
import { requireReadablePath } from './malformedHttp.ts';

const KEY_FORMAT = /^svc_live_[A-Za-z0-9]{32}$/;
const BEARER = /^bearer +(\S+)$/i;

/** Whose key a request carries. */
export interface Caller {
  wallet: string;
  keySha256: string;
  /** Undefined while the key is only recognized: whoever acts for the caller has to admit it. */
  key: KeyAndAccount | undefined;
}

export interface Authentication {
  /**
   * Admits requests that carry a live key. Refusals are limited apart from other requests: whoever
   * guesses is soon told to wait, and a live key is admitted all the same, since one address may be
   * that of many clients. What is wrong with a path is told only to those who were admitted.
   *
   * No answer is kept by caches on its way: what it tells is the wallet's own.
   */
  authenticate: RequestHandler;
  /**
   * Lets a key pass that was admitted here before, for a handler that admits it in the statement
   * which it makes anyway. Every other key is authenticated. What is wrong with the request may be
   * told only once the key is admitted: see `beforeErrors`.
   */
  recognize: RequestHandler;
}

export function createAuthentication(options: {
  keys: KeyAdmission;
  refusals: BurstLimit;
}): Authentication {
  const { keys, refusals } = options;

  /** @throws ApiError of a key that may not be used, or that was guessed too often */
  async function admit(request: Request, response: Response): Promise<void> {
    try {
      const apiKey = bearerOf(request.get('authorization'));
      if (!KEY_FORMAT.test(apiKey)) throw unknownKey();
      const keySha256 = hashKey(apiKey);
      const key = await keys.admit(keySha256);
      identify(response, apiKey, { wallet: key.wallet, keySha256, key });
    } catch (error) {
      if (error instanceof ApiError) {
        // Nothing is awaited between the two, so that requests at the same time get no more.
        refusals.check(request);
        refusals.take(request);
      }
      throw error;
    }
  }

  const authenticate: RequestHandler = async (request, response, next) => {
    response.set('cache-control', 'no-store');
    if (!callerOf(response)?.key) await admit(request, response);
    requireReadablePath(request);
    next();
  };
  const recognize: RequestHandler = (request, response, next) => {
    const apiKey = bearerIn(request.get('authorization'));
    const keySha256 = hashKey(apiKey ?? '');
    const wallet = keys.ownerOf(keySha256);
    if (apiKey === undefined || wallet === undefined) return authenticate(request, response, next);
    response.set('cache-control', 'no-store');
    identify(response, apiKey, { wallet, keySha256, key: undefined });
    requireReadablePath(request);
    return next();
  };
  return { authenticate, recognize };
}

function identify(response: Response, apiKey: string, caller: Caller): void {
  Object.assign(response.locals, { apiKey, caller });
}

/** Whose key this response's request carries; undefined before it was looked at. */
export function callerOf(response: Response): Caller | undefined {
  return response.locals.caller;
}

/** The key and account of a request that was authenticated. */
export function authenticated(response: Response): KeyAndAccount {
  return (response.locals.caller as Caller).key as KeyAndAccount;
}

/** The key itself, of this request only: it is kept nowhere. */
export function apiKeyOf(response: Response): string {
  return response.locals.apiKey as string;
}

function bearerIn(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1];
}

/** A header that holds something else than a key names no key that exists; only none is missing. */
function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new ApiError(
      'missing_api_key',
      'No API key was sent. Send it as `Authorization: Bearer <API_KEY>`.',
    );
  }
  const key = bearerIn(authorization);
  if (key === undefined) {
    throw new ApiError(
      'invalid_api_key',
      'The Authorization header must be `Bearer <API_KEY>` and nothing else.',
    );
  }
  return key;
}
