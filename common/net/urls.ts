import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { z } from 'zod';
import { ConfigError } from '../config.ts';
import { connectionOf } from '../database/connection.ts';

// Addresses in the environment, each with the protocols that its client speaks. A wrong one is
// refused at the start, with the variable's name.

const DATABASE_URL_FAULT =
  'must be a URL that begins with postgres:// (special characters of a password as %23)';
export const databaseUrlSetting = z
  .url({ protocol: /^postgres(ql)?$/, error: DATABASE_URL_FAULT })
  .refine(isWholeDatabaseUrl, DATABASE_URL_FAULT)
  .superRefine((text, context) => {
    const message = databaseUrlFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** @returns the fault in an address's settings of TLS; undefined without one */
export function databaseUrlFault(text: string): string | undefined {
  if (!isWholeDatabaseUrl(text)) return undefined;
  try {
    connectionOf(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Whether an address of a database is whole. A `/`, `?` or `#` in a password would end the host too
 * early, so that the `@` is in the rest. A `%` in it would begin no escape.
 */
export function isWholeDatabaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  if (url.username === '' && `${url.pathname}${url.search}${url.hash}`.includes('@')) return false;
  return !/%(?![0-9a-f]{2})/i.test(text);
}
export const httpUrlSetting = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http:// or https://',
});
export const websocketUrlSetting = z.url({
  protocol: /^wss?$/,
  error: 'must be a URL that begins with ws:// or wss://',
});

/**
 * An address for `fetch`, which refuses every request to one with a user or a password.
 *
 * @param hint where credentials belong instead
 */
export function fetchedUrlSetting(hint = '') {
  return httpUrlSetting.refine((text) => {
    const url = URL.parse(text);
    return !url?.username && !url?.password;
  }, `must not carry credentials${hint}`);
}

/**
 * The usual address of a node's websocket: the same one, with the next port where it names a port, as
 * validators have it.
 */
export function websocketUrlOf(rpcUrl: string): string {
  const url = new URL(rpcUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (url.port !== '') url.port = String(Number(url.port) + 1);
  return url.href;
}

/**
 * Gives all addresses with the same requests one spelling: as the URL standard writes it, without
 * the host's last dot and without a fragment.
 *
 * @throws TypeError for what is no URL
 */
export function normalizeUrl(text: string): string {
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, '');
  url.hash = '';
  return url.href;
}

/** A host as a URL spells it: an IPv6 address, whose colons would be taken for a port's, in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Of a port, not of an address. */
const PORT_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken',
  EACCES: 'is not permitted',
};

/**
 * Opens a server's port; 0 lets the system choose one.
 *
 * @param at.settings what host and port are called in the environment
 * @returns the address and port that were opened
 * @throws ConfigError naming the setting to change, which the system's own words do not
 */
export async function listenAt(
  server: Server,
  at: { host: string; port: number; settings: { host: string; port: string } },
): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const fault = PORT_FAULTS[String(code)];
    throw new ConfigError(
      fault === undefined
        ? `${at.settings.host}: cannot be listened on (${code}): it is no address of this machine`
        : `${at.settings.port}: port ${at.port} ${fault} (${code}); choose another`,
    );
  });
  return server.address() as AddressInfo;
}
