import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';

/** All of IPv6 that is assigned for the public network; what lies outside is never public. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Suffixes that never lead out of a network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const PRIVATE_SUFFIX = /\.(local|localdomain|internal|home\.arpa)$/;

/**
 * Whether an IP address leads to the public network. Forms that hold an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo) do not count as public, whatever they hold: nobody needs them to
 * name a server.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Whether an IP address is this machine, as connections made to it see it. */
export function isLoopbackAddress(text: string): boolean {
  // Unwraps ::ffff:a.b.c.d, which reaches the IPv4 address it holds.
  return ipaddr.isValid(text) && ipaddr.process(text).range() === 'loopback';
}

/** Whether a host name means this machine by definition, without any look-up (RFC 6761). */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Whether a host name can mean something inside a network only. */
export function isPrivateName(name: string): boolean {
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
