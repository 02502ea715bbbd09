import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type Dispatcher } from 'undici';

/** An address that strangers named leads, or might lead, inside our own network. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

/** Loopback only when a development set-up asks for it; nothing private ever. */
export function isAddressAllowed(text: string, allowLoopback: boolean): boolean {
  if (!ipaddr.isValid(text)) return false;
  // Unwraps ::ffff:a.b.c.d, which reaches the IPv4 address it holds.
  const address = ipaddr.process(text);
  const range = address.range();
  return range === 'unicast' || (allowLoopback && range === 'loopback');
}

/**
 * An HTTP dispatcher for URLs that strangers chose (worker endpoints, webhooks): every address is
 * checked at the moment of connecting, so a name that changes between look-ups gains nothing.
 */
export function createGuardedDispatcher(options: {
  allowLoopback: boolean;
  connectTimeoutMs: number;
}): Dispatcher {
  const { allowLoopback, connectTimeoutMs } = options;

  const guardedLookup: LookupFunction = (hostname, lookupOptions, callback) => {
    lookup(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const refused = addresses.find(({ address }) => !isAddressAllowed(address, allowLoopback));
      if (refused || addresses.length === 0) {
        return callback(new AddressRefusedError('the address is not public'), []);
      }
      const [first] = addresses;
      if (lookupOptions.all || !first) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };

  return new Agent({
    connect: { lookup: guardedLookup, timeout: connectTimeoutMs },
    // Long silences are the caller's to judge: it has its own deadlines.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * Checks a URL before anything is sent to it. Node connects to literal addresses without a look-up,
 * so these are decided here.
 *
 * @throws AddressRefusedError
 */
export function assertUrlAllowed(url: URL, allowLoopback: boolean): void {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowLoopback)) {
    throw new AddressRefusedError('the URL is not https');
  }
  if (url.username || url.password) throw new AddressRefusedError('the URL carries credentials');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host) && !isAddressAllowed(host, allowLoopback)) {
    throw new AddressRefusedError('the address is not public');
  }
}
