import { connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SelfSigned } from '../api/selfSigned.ts';
import { type DatabaseFront, standBefore } from './databaseFront.ts';

/** A client's question whether the server takes TLS, before anything else. */
const SSL_REQUEST_BYTES = 8;

/**
 * The database as a server that takes connections by TLS alone, as PostgreSQL agrees on it.
 *
 * @returns its address, at 127.0.0.1
 */
export async function startTlsDatabase(
  databaseUrl: string,
  { certificate, key }: SelfSigned,
): Promise<DatabaseFront> {
  const { hostname, port } = new URL(databaseUrl);
  const secureContext = createSecureContext({ cert: certificate, key });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => {
      socket.read(SSL_REQUEST_BYTES);
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, secureContext });
      const database = connect(Number(port), hostname);
      sockets.add(database);
      secure.pipe(database).pipe(secure);
      for (const [one, other] of [
        [secure, database],
        [database, secure],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
  });
  return standBefore(databaseUrl, server, sockets);
}
