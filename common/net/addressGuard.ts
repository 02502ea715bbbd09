import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import {
  isLoopbackAddress,
  isLoopbackName,
  isPrivateName,
  isPublicAddress,
  type ResolveName,
  resolveName,
} from './names.ts';

/** An address that strangers named leads, or might lead, inside our own network. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

/**
 * An HTTP dispatcher for URLs that strangers chose (worker endpoints, webhooks). Every URL and every
 * address is checked at the moment of connecting, and what was checked is what is connected to, so
 * that a redirect, or a name that changes between look-ups, gains nothing.
 *
 * @param options.allowLoopback for development: this machine is allowed too, nothing else
 */
export function createGuardedDispatcher(options: {
  allowLoopback: boolean;
  connectTimeoutMs: number;
  resolve?: ResolveName;
}): Dispatcher {
  const { allowLoopback, connectTimeoutMs, resolve = resolveName } = options;

  const lookup: LookupFunction = (name, lookupOptions, callback) => {
    resolveAllowed(name, { allowLoopback, resolve }).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: familyOf(address) }));
        const [first] = addresses;
        if (lookupOptions.all || !first) return callback(null, addresses);
        return callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup });

  return new Agent({
    connect(target, callback) {
      try {
        // Node connects to literal addresses without a look-up, so these are decided here.
        assertUrlAllowed(new URL(`${target.protocol}//${target.host}`), allowLoopback);
      } catch (error) {
        return callback(error as Error, null);
      }
      return connect(target, callback);
    },
    // Long silences are the caller's to judge: it has its own deadlines.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/**
 * Checks what a URL says by itself: https, no credentials, a public host, and 443 or an unprivileged
 * port, since below 1024 other protocols live.
 *
 * @throws AddressRefusedError
 */
export function assertUrlAllowed(url: URL, allowLoopback: boolean): void {
  if (url.username || url.password) throw new AddressRefusedError('must not carry credentials');
  const host = hostOf(url);
  const isAddress = ipaddr.isValid(host);
  if (isAddress ? isLoopbackAddress(host) : isLoopbackName(host)) {
    if (!allowLoopback) throw new AddressRefusedError('must lead to a public address');
    if (url.protocol === 'http:' || url.protocol === 'https:') return;
  }
  if (url.protocol !== 'https:') throw new AddressRefusedError('must be an https URL');
  if (isAddress ? !isPublicAddress(host) : isPrivateName(host)) {
    throw new AddressRefusedError('must lead to a public address');
  }
  // Empty for 443, the default of https.
  if (url.port !== '' && Number(url.port) < 1_024) {
    throw new AddressRefusedError('must use port 443, or one from 1024 up');
  }
}

/**
 * Checks where a URL's name leads at this moment. A name that does not resolve passes: it may be
 * about to exist, and every connection is checked again.
 *
 * @throws AddressRefusedError
 */
export async function assertNameAllowed(
  url: URL,
  options: { allowLoopback: boolean; resolve: ResolveName },
): Promise<void> {
  const host = hostOf(url);
  if (ipaddr.isValid(host)) return;
  try {
    await resolveAllowed(host, options);
  } catch (error) {
    if (error instanceof AddressRefusedError) throw error;
  }
}

/** One address that is not allowed condemns the name: which of them is used is not ours to choose. */
async function resolveAllowed(
  name: string,
  { allowLoopback, resolve }: { allowLoopback: boolean; resolve: ResolveName },
): Promise<string[]> {
  const addresses = await resolve(name);
  const areAllowed = addresses.every(
    (address) => isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address)),
  );
  if (!areAllowed) throw new AddressRefusedError('must lead to a public address');
  return addresses;
}

/** Without the brackets of IPv6, and without the dot that marks a name as complete. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

function familyOf(address: string): number {
  return ipaddr.parse(address).kind() === 'ipv6' ? 6 : 4;
}
