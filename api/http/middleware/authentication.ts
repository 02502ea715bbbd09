import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { batched, type Database } from '../../../common/postgres.ts';
import { suspensionMessage } from '../../account/suspensions.ts';
import { ApiError, accountRequired } from '../../contracts/errors.ts';
import type { Route } from '../../contracts/route.ts';
import {
  hashKey,
  type KeyAndAccount,
  type Payer,
  selectKeysAndAccounts,
} from '../../sql/accounts.ts';
import { requireReadablePath } from './everyRequest.ts';

/** Statements that several requests share. */
const SHARED = { itemsMax: 256, callsMax: 2 };

export type KeyAdmission = ReturnType<typeof createKeyAdmission>;

/** Finds whose a key is, and whether it may still be used. */
export function createKeyAdmission(database: Database) {
  const find = batched<string, KeyAndAccount | undefined>({
    ...SHARED,
    call: (hashes) => selectKeysAndAccounts(database, hashes),
  });
  return {
    /** @throws ApiError invalid_api_key or key_suspended */
    async admit(keySha256: string): Promise<KeyAndAccount> {
      const key = await find(keySha256);
      if (!key || key.status === 'revoked') throw unknownKey();
      if (key.suspension_reason !== null) {
        const message = suspensionMessage('The API key', key.suspension_reason);
        throw new ApiError('key_suspended', message);
      }
      return key;
    },
  };
}

const ORIGIN = "A wallet's owner can make its key in this service's web app.";

/** The refusal of a key that does not exist. */
function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', `The API key does not exist or was revoked. ${ORIGIN}`);
}

const KEY_FORMAT = /^svc_live_[A-Za-z0-9]{32}$/;
const KEY_CHARACTERS = 41;

/** The refusal of what no key can be. It names the fault, and nothing of the key. */
function malformedKey(key: string): ApiError {
  const message = /^["'`]|["'`]$/.test(key)
    ? 'The API key was sent with quotes around it. Send it without them.'
    : /\\[nr]$|%0[ad]$/i.test(key)
      ? 'The API key was sent with a line break behind it. Send it without.'
      : `An API key is svc_live_ and 32 letters or digits, ${KEY_CHARACTERS} characters. ` +
        `${key.length} were sent. ${ORIGIN}`;
  return new ApiError('invalid_api_key', message);
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * Admits requests that carry a live key, and no others. Refusals have a limit of their own, so that
 * guessing soon ends with a wait. A live key is still admitted from such an address, which may be
 * that of many clients. Only admitted clients read what is wrong with a path.
 *
 * Caches keep no answer: it is the wallet's own.
 *
 * @param options.gateway the Gateway account that wallets name as their spender
 */
export function authenticate(
  { needsSpender, needsAccount }: Pick<Route, 'needsSpender' | 'needsAccount'>,
  options: { keys: KeyAdmission; refusals: BurstLimit; gateway: string },
): RequestHandler {
  const { keys, refusals, gateway } = options;

  /** @throws ApiError of a key that may not be used, or that was guessed too often */
  async function admit(request: Request, response: Response): Promise<KeyAndAccount> {
    try {
      const apiKey = bearerOf(request.get('authorization'));
      if (!KEY_FORMAT.test(apiKey)) throw malformedKey(apiKey);
      const key = await keys.admit(hashKey(apiKey));
      Object.assign(response.locals, { secret: apiKey, key });
      return key;
    } catch (error) {
      if (error instanceof ApiError) refusals.spend(request);
      throw error;
    }
  }

  return async (request, response, next) => {
    response.set('cache-control', 'no-store');
    const key = await admit(request, response);
    requireReadablePath(request);
    if (needsSpender) assertSpender(key, gateway);
    if (needsAccount && key.available_credits === null) throw accountRequired();
    next();
  };
}

/**
 * Admits a request and reads its body. A request whose body arrives later is admitted again after it.
 * Otherwise a slow sender could use a key or a session long after its end.
 */
export function withBody(read: RequestHandler, admit: RequestHandler): RequestHandler[] {
  const waited = new WeakSet<Request>();
  const note: RequestHandler = (request, _response, next) => {
    if (!request.complete) waited.add(request);
    next();
  };
  const admitAgain: RequestHandler = (request, response, next) =>
    waited.has(request) ? admit(request, response, next) : next();
  return [admit, note, read, admitAgain];
}

/** A header without a key in it is an invalid key. Only a request without the header lacks one. */
function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new ApiError(
      'missing_api_key',
      `No API key was sent. Send it as \`Authorization: Bearer <API_KEY>\`. ${ORIGIN}`,
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

/**
 * A wallet without an account passes: its error will be that it has no credits.
 *
 * @throws ApiError `spender_not_set`
 */
export function assertSpender({ spender }: Payer, gateway: string): void {
  if (spender === null || spender === gateway) return;
  throw new ApiError(
    'spender_not_set',
    `The wallet's spender is not this service (${gateway}). The wallet names it on the Credits page of the web app, or with \`svc credits limits\`.`,
  );
}

/** More than there are honest clients. The least recently seen are forgotten first. */
const BUCKETS_MAX = 100_000;

/** Limited addresses by their text, since a request needs its address several times. */
const known = new LRUCache<string, string>({ max: 10_000 });

interface Bucket {
  left: number;
  refilledAtMs: number;
}

export type Limit = ReturnType<typeof createLimit>;

/**
 * A token bucket for each wallet or address: `burst` requests at once, refilled steadily. It limits
 * bursts, per process. It guards the process, not the ledger: credits are what bounds use.
 *
 * @param options.nowMs a monotone clock in milliseconds
 * @param options.name what is limited, for the error's message
 */
export function createLimit(options: {
  burst: number;
  refillPerSecond: number;
  nowMs: () => number;
  name: 'address' | 'wallet';
}) {
  const { burst, refillPerSecond, nowMs, name } = options;
  const buckets = new LRUCache<string, Bucket>({ max: BUCKETS_MAX });

  function refill(whose: string): Bucket {
    const now = nowMs();
    const bucket = buckets.get(whose) ?? { left: burst, refilledAtMs: now };
    const gained = ((now - bucket.refilledAtMs) / 1_000) * refillPerSecond;
    bucket.left = Math.min(burst, bucket.left + gained);
    bucket.refilledAtMs = now;
    buckets.set(whose, bucket);
    return bucket;
  }

  return {
    /**
     * Takes one token.
     *
     * @param onTaken called also where none is left, with how many there can be, how many are left, and
     *   when all are back
     * @throws ApiError `rate_limit_exceeded` where none is left
     */
    spend(whose: string, onTaken?: (now: Left) => void): void {
      const bucket = refill(whose);
      const { left } = bucket;
      if (left >= 1) bucket.left -= 1;
      const fullInSeconds = Math.ceil((burst - bucket.left) / refillPerSecond);
      onTaken?.({ burst, left: Math.floor(bucket.left), fullInSeconds });
      if (left >= 1) return;
      throw new ApiError('rate_limit_exceeded', `Too many requests from this ${name}.`, {
        retryAfterSeconds: Math.max(1, Math.ceil((1 - left) / refillPerSecond)),
        details: { limit: burst, limit_of: name },
      });
    },
  };
}

interface Left {
  burst: number;
  left: number;
  fullInSeconds: number;
}

/** The part of a request's address that is limited: an IPv4 address, or the /64 of an IPv6 one. */
export function addressOf({ ip = NO_ADDRESS }: Request): string {
  const address = known.get(ip) ?? limitedAddress(ip);
  known.set(ip, address);
  return address;
}

export type BurstLimit = ReturnType<typeof createBurstLimit>;

/** Limits bursts of each client address; see `createLimit`. */
export function createBurstLimit(options: Omit<Parameters<typeof createLimit>[0], 'name'>) {
  const limit = createLimit({ ...options, name: 'address' });
  return {
    /** @throws ApiError `rate_limit_exceeded` where the address has no token left */
    spend(request: Request, onTaken?: (now: Left) => void): void {
      limit.spend(addressOf(request), onTaken);
    },
  };
}

/**
 * Refuses what exceeds the limit, before anything else is done for the request. Answers of /v1 say what
 * is left of it, in the headers that clients of the format know.
 */
export function limitBursts(limit: BurstLimit): RequestHandler {
  return (request, response, next) => {
    limit.spend(request, ({ burst, left, fullInSeconds }) => {
      if (!/^\/v1(\/|$)/i.test(request.path)) return;
      response.set({
        'x-ratelimit-limit-requests': String(burst),
        'x-ratelimit-remaining-requests': String(left),
        'x-ratelimit-reset-requests': `${fullInSeconds}s`,
      });
    });
    next();
  };
}

/** Some proxies forward the address with the client's port, which changes with each connection. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;
/** One bucket for all texts that are no address, since a client can invent any number of them. */
const NO_ADDRESS = 'no address';

/** One IPv4 address, or the /64 of an IPv6 one: a subscriber owns at least that much. */
function limitedAddress(text: string): string {
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const bare = bracketed ?? dotted ?? text;
  if (!ipaddr.isValid(bare)) return NO_ADDRESS;
  const address = ipaddr.process(bare);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return address.parts.slice(0, 4).join(':');
}
