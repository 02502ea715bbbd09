import type { Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../contracts/errors.ts';

/** A token bucket per client address: `burst` requests at once, refilled at a steady rate. */
export interface BurstLimit {
  /** @throws ApiError `rate_limit_exceeded` when the address has nothing left */
  check(request: Request): void;
  /** Takes one from the address's bucket. */
  take(request: Request): void;
}

/** Enough addresses for any honest crowd; the least recently seen are forgotten first. */
const ADDRESSES_MAX = 100_000;

/** What is limited by the spelling of an address, which is asked for several times a request. */
const known = new LRUCache<string, string>({ max: 10_000 });

interface Bucket {
  left: number;
  refilledAtMs: number;
}

/**
 * Limits bursts, per process. It guards the process, not the ledger: credits are what bounds use.
 *
 * @param nowMs a monotone clock in milliseconds
 */
export function createBurstLimit(options: {
  burst: number;
  refillPerSecond: number;
  nowMs: () => number;
}): BurstLimit {
  const { burst, refillPerSecond, nowMs } = options;
  const buckets = new LRUCache<string, Bucket>({ max: ADDRESSES_MAX });

  function refill({ ip = 'unknown' }: Request): Bucket {
    const address = known.get(ip) ?? limitedAddress(ip);
    known.set(ip, address);
    const now = nowMs();
    const bucket = buckets.get(address) ?? { left: burst, refilledAtMs: now };
    const gained = ((now - bucket.refilledAtMs) / 1_000) * refillPerSecond;
    bucket.left = Math.min(burst, bucket.left + gained);
    bucket.refilledAtMs = now;
    buckets.set(address, bucket);
    return bucket;
  }

  return {
    check(request) {
      const { left } = refill(request);
      if (left >= 1) return;
      throw new ApiError('rate_limit_exceeded', 'Too many requests from this address.', {
        retryAfterSeconds: Math.max(1, Math.ceil((1 - left) / refillPerSecond)),
        details: { limit: burst },
      });
    },
    take(request) {
      refill(request).left -= 1;
    },
  };
}

/** Refuses what exceeds the limit, before anything else is done for the request. */
export function limitBursts(limit: BurstLimit): RequestHandler {
  return (request, _response, next) => {
    limit.check(request);
    limit.take(request);
    next();
  };
}

/** One IPv4 address, or the /64 of an IPv6 one: a subscriber owns at least that much. */
function limitedAddress(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return address.parts.slice(0, 4).join(':');
}
