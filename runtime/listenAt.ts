import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { ConfigError } from './config.ts';

/**
 * Opens a server's port; 0 lets the system choose one.
 *
 * @param at.settings what host and port are called in the environment
 * @returns the address and port that were opened
 * @throws ConfigError naming the setting to change: the system's own words name none, and quote its
 *   value
 */
export async function listenAt(
  server: Server,
  at: { host: string; port: number; settings: { host: string; port: string } },
): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const isPort = code === 'EADDRINUSE' || code === 'EACCES';
    const name = isPort ? at.settings.port : at.settings.host;
    throw new ConfigError(
      `The environment is not usable. ${name}: cannot be listened on (${code})`,
    );
  });
  return server.address() as AddressInfo;
}
