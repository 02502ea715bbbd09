import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../common/config.ts';
import { listenAt } from '../../common/net/urls.ts';

const settings = { host: 'PART_HOST', port: 'PART_PORT' };
const servers: Server[] = [];

function open(at: { host?: string; port?: number }) {
  const server = createServer();
  servers.push(server);
  return listenAt(server, { host: '127.0.0.1', port: 0, settings, ...at });
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (!server.listening) continue;
    server.close();
    await once(server, 'close');
  }
});

describe('a listening port', () => {
  it('is chosen by the system when it is 0', async () => {
    const { address, port } = await open({ port: 0 });

    expect(address).toBe('127.0.0.1');
    expect(port).toBeGreaterThan(0);
  });

  it('is reported by its setting and its number when it is occupied', async () => {
    const { port } = await open({ port: 0 });

    const refused = await open({ port }).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(ConfigError);
    expect(refused).toHaveProperty(
      'message',
      `PART_PORT: port ${port} is taken (EADDRINUSE); choose another`,
    );
    expect(refused).not.toHaveProperty('cause');
  });

  it('is reported by the setting of its host when that is not a local address', async () => {
    await expect(open({ host: '203.0.113.1' })).rejects.toThrow(
      'PART_HOST: cannot be listened on (EADDRNOTAVAIL): it is no address of this machine',
    );
  });
});
