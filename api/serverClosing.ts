import type http from 'node:http';
import type https from 'node:https';
import type { Socket } from 'node:net';

const IDLE_CHECK_INTERVAL_MS = 100;

/**
 * Lets a server end with its last response. To be called before it listens.
 *
 * @returns what stops accepting, and resolves when the last response has ended. A connection that
 *   is kept alive ends with its present response, not with its time-out; one that clients opened
 *   ahead and never used, which Node counts as busy, ends at once
 */
export function prepareClosing(server: http.Server | https.Server): () => Promise<void> {
  const unused = new Set<Socket>();
  const forget = (socket: Socket) => void unused.delete(socket);
  const opened = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  server.on(opened, (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.on('request', ({ socket }: http.IncomingMessage) => forget(socket));

  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
    for (const socket of unused) socket.destroy();
    await closed;
    clearInterval(idleCheck);
  };
}
