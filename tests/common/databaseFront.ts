import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** What stands before a database, in its place. */
export interface DatabaseFront {
  /** Of the front, at 127.0.0.1. */
  databaseUrl: string;
  close(): Promise<void>;
}

/** Has the server stand before the database. @param sockets closed with it */
export async function standBefore(
  databaseUrl: string,
  server: Server,
  sockets: ReadonlySet<Socket>,
): Promise<DatabaseFront> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    databaseUrl: url.href,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
