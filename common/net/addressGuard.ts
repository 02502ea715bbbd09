import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { unlessAborted } from '../wait.ts';

/** All of IPv6 that is assigned for the public network; what lies outside is never public. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Suffixes that never lead out of a network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const PRIVATE_SUFFIX = /\.(local|localdomain|internal|home\.arpa)$/;

/**
 * Whether an IP address leads to the public network. Forms that hold an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo) never count as public: no server needs such a name.
 */
function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Whether an IP address is this machine, as connections made to it see it. */
function isLoopbackAddress(text: string): boolean {
  // Unwraps ::ffff:a.b.c.d, which reaches the IPv4 address it holds.
  return ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback';
}

/** Whether a host name means this machine by definition, without any look-up (RFC 6761). */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Whether a setting's host, or the one in a URL, is this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return isLoopbackName(name) || isLoopbackAddress(name);
}

/** Whether a host name can mean something inside a network only. */
function isPrivateName(name: string): boolean {
  return !name.includes('.') || PRIVATE_SUFFIX.test(name);
}

/** Finds the addresses of a host name. @throws Error when it has none, or none is found in time */
export type ResolveName = (name: string) => Promise<string[]>;

const RESOLVE_TIMEOUT_MS = 3_000;

/**
 * Asks the name servers, IPv4 addresses first.
 *
 * Not getaddrinfo, which Node runs on its four threads: a few names whose servers never answer
 * would stop every other look-up of the process. It would also try search domains, which only lead
 * to names of our own network.
 *
 * @param resolver of this look-up alone, since giving it up cancels all that it was asked
 */
export async function resolveName(name: string, resolver = new Resolver()): Promise<string[]> {
  if (isLoopbackName(name)) return ['127.0.0.1', '::1'];
  const deadline = setTimeout(() => resolver.cancel(), RESOLVE_TIMEOUT_MS);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(deadline);
  const addresses = answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  const [failure] = answers.filter((answer) => answer.status === 'rejected');
  if (addresses.length === 0) throw failure?.reason ?? new Error('the name has no address');
  return addresses;
}

/** An address from a stranger leads, or may lead, into our own network. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

/**
 * An HTTP dispatcher for URLs that strangers chose (worker endpoints, webhooks). It checks every URL
 * and every address when it connects, and connects to the address that it checked. So neither a
 * redirect nor a name that changes between look-ups leads elsewhere.
 *
 * @param options.allowLoopback for development: this machine is allowed too, nothing else
 */
export function createGuardedDispatcher(options: {
  allowLoopback: boolean;
  connectTimeoutMs: number;
  resolve?: ResolveName;
}): Dispatcher {
  const { allowLoopback, connectTimeoutMs, resolve = resolveName } = options;
  const lookup = createGuardedLookup({ allowLoopback, resolve });
  // With HTTP/2, requests would wait for one another's handshake.
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup, allowH2: false });

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
    allowH2: false,
  });
}

export type GuardedAgents = ReturnType<typeof createGuardedAgents>;

/** A connection without a request is closed after so long, as undici does. */
const IDLE_MS = 4_000;

/** The same for Node's client. @param options as of `createGuardedDispatcher` */
export function createGuardedAgents(options: { allowLoopback: boolean; resolve?: ResolveName }) {
  const { allowLoopback, resolve = resolveName } = options;
  const kept = {
    keepAlive: true,
    timeout: IDLE_MS,
    lookup: createGuardedLookup({ allowLoopback, resolve }),
  };
  const agents = { http: new http.Agent(kept), https: new https.Agent(kept) };
  return {
    /** @throws AddressRefusedError for what the URL says by itself */
    agentFor(url: URL): http.Agent {
      // Node connects to literal addresses without a look-up, so these are decided here.
      assertUrlAllowed(url, allowLoopback);
      return url.protocol === 'https:' ? agents.https : agents.http;
    },
    /** Closes every connection. */
    destroy(): void {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function createGuardedLookup(guard: {
  allowLoopback: boolean;
  resolve: ResolveName;
}): LookupFunction {
  return (name, options, callback) => {
    resolveAllowed(name, guard).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: familyOf(address) }));
        const [first] = addresses;
        if (options.all || !first) return callback(null, addresses);
        return callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

/**
 * `request` of undici that ends as soon as its signal aborts. undici's own would first wait for a
 * connection that is being opened.
 *
 * @throws the signal's reason once it aborts
 */
export async function requestWithin(
  url: string | URL,
  options: Pick<Dispatcher.RequestOptions, 'body' | 'headers'> & {
    method?: Dispatcher.HttpMethod;
    dispatcher: Dispatcher;
    signal: AbortSignal;
  },
): Promise<Dispatcher.ResponseData> {
  const { signal } = options;
  signal.throwIfAborted();
  return unlessAborted(signal, request(url, options));
}

/**
 * Checks a URL without a look-up: https, no credentials, a public host, and the port 443 or one from
 * 1024 on. Other ports below 1024 belong to other protocols.
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
 * Checks a URL that a stranger gives: what it says, and where its name leads at this moment.
 *
 * @throws AddressRefusedError
 */
export async function assertAddressAllowed(
  url: URL,
  options: { allowLoopback: boolean; resolve: ResolveName },
): Promise<void> {
  assertUrlAllowed(url, options.allowLoopback);
  await assertNameAllowed(url, options);
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
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

function familyOf(address: string): number {
  return ipaddr.parse(address).kind() === 'ipv6' ? 6 : 4;
}
