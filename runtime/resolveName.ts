import { Resolver } from 'node:dns/promises';
import { isLoopbackName } from './publicAddress.ts';

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
