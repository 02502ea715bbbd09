import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { invalidRequest } from './protocol/method.ts';

/** What no cluster has: they write accounts and move the Clock. */
const DEVELOPMENT_METHOD = /^localnet_/;
const JSON_TYPE = /^application\/json *(;|$)/i;

/**
 * Refuses the development methods to pages of other sites, which every browser lets send requests to
 * this machine. The methods that nodes have are as open as theirs.
 *
 * A browser names the page in Origin. It does not send JSON for another site without asking first.
 * Host names how the page got here: by a name of the page's own, where that leads to this
 * machine. What runs outside of browsers sends no Origin.
 *
 * @param head of the request, or of the websocket's, which has no content type
 * @throws CallError that says what is to be changed
 */
export function assertOwnCaller(
  method: string,
  { headers, method: verb }: Pick<IncomingMessage, 'headers' | 'method'>,
): void {
  if (!DEVELOPMENT_METHOD.test(method)) return;
  const refuse = (reason: string) => invalidRequest(`${method} ${reason}`);
  const { origin, host = '', 'content-type': type = '' } = headers;
  if (origin !== undefined && !isOfThisMachine(URL.parse(origin)?.hostname)) {
    throw refuse('is for pages of this machine alone, at localhost or a loopback address');
  }
  if (!isPrivateName(URL.parse(`http://${host}`)?.hostname)) {
    throw refuse('is asked for at an address or a name of this network alone, such as localhost');
  }
  if (verb === 'POST' && !JSON_TYPE.test(type)) {
    throw refuse('needs the header Content-Type: application/json');
  }
}

function isOfThisMachine(host: string | undefined): boolean {
  return host !== undefined && /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(host);
}

/** An address, or a name that cannot be registered, so that no page can have it lead here. */
function isPrivateName(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (isIP(host.replace(/^\[(.+)\]$/, '$1')) !== 0) return true;
  return !host.includes('.') || /\.(localhost|local|internal|test)$/.test(host);
}
