import type { Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../contracts/errors.ts';

/** A token bucket for each wallet or address: `burst` requests at once, refilled steadily. */
export interface Limit {
  /** Takes one token. @throws ApiError `rate_limit_exceeded` where none is left */
  spend(whose: string): void;
}

/** The same for each client address. */
export interface BurstLimit {
  /** @throws ApiError `rate_limit_exceeded` where the address has no token left */
  spend(request: Request): void;
}

/** More than there are honest clients. The least recently seen are forgotten first. */
const BUCKETS_MAX = 100_000;

/** Limited addresses by their text, since a request needs its address several times. */
const known = new LRUCache<string, string>({ max: 10_000 });

interface Bucket {
  left: number;
  refilledAtMs: number;
}

/**
 * Limits bursts, per process. It guards the process, not the ledger: credits are what bounds use.
 *
 * @param options.nowMs a monotone clock in milliseconds
 * @param options.name what is limited, for the error's message
 */
export function createLimit(options: {
  burst: number;
  refillPerSecond: number;
  nowMs: () => number;
  name: string;
}): Limit {
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
    spend(whose) {
      const bucket = refill(whose);
      if (bucket.left < 1) {
        throw new ApiError('rate_limit_exceeded', `Too many requests from this ${name}.`, {
          retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.left) / refillPerSecond)),
          details: { limit: burst },
        });
      }
      bucket.left -= 1;
    },
  };
}

/** The part of a request's address that is limited: an IPv4 address, or the /64 of an IPv6 one. */
export function addressOf({ ip = NO_ADDRESS }: Request): string {
  const address = known.get(ip) ?? limitedAddress(ip);
  known.set(ip, address);
  return address;
}

/** Limits bursts of each client address; see `createLimit`. */
export function createBurstLimit(options: {
  burst: number;
  refillPerSecond: number;
  nowMs: () => number;
}): BurstLimit {
  const limit = createLimit({ ...options, name: 'address' });
  return {
    spend(request) {
      limit.spend(addressOf(request));
    },
  };
}

/** Refuses what exceeds the limit, before anything else is done for the request. */
export function limitBursts(limit: BurstLimit): RequestHandler {
  return (request, _response, next) => {
    limit.spend(request);
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
