import type http from 'node:http';
import type https from 'node:https';
import type { Socket } from 'node:net';

const IDLE_CHECK_INTERVAL_MS = 100;

/**
 * Lets a server end with its last response. To be called before it listens.
 *
 * @returns what stops accepting, and resolves when the last response has ended. A connection that
 *   owes no response ends at once, also one that a client opened ahead, which Node counts as busy.
 *   Any other ends with the last one that was asked for on it: that one says `connection: close`,
 *   or, where its headers are sent already, the next one does if it is asked for in time
 */
export function prepareClosing(server: http.Server | https.Server): () => Promise<void> {
  /** Every open connection, and the last response that it owes. */
  const owed = new Map<Socket, http.ServerResponse | undefined>();
  /** Those whose last response says that it is the last. */
  const ending = new WeakSet<Socket>();

  /** Connections whose TLS handshake is under way, by their peer. */
  const handshakes = new Map<string, Socket>();

  function opened(socket: Socket): void {
    owed.set(socket, undefined);
    socket.once('close', () => owed.delete(socket));
  }
  if ('setSecureContext' in server) {
    server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      handshakes.set(peer, socket);
      socket.once('close', () => handshakes.delete(peer));
    });
    server.on('secureConnection', (socket: Socket) => {
      handshakes.delete(peerOf(socket));
      opened(socket);
    });
  } else server.on('connection', opened);
  server.on('request', ({ socket }: http.IncomingMessage, response: http.ServerResponse) => {
    owed.set(socket, response);
    response.once('close', () => {
      if (owed.get(socket) === response) owed.set(socket, undefined);
    });
  });

  function endWith(socket: Socket, response: http.ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('connection', 'close');
    ending.add(socket);
  }

  // Node's own, which `server.close()` calls, also cuts responses that slow readers still receive.
  server.closeIdleConnections = () => {
    for (const socket of handshakes.values()) socket.destroy();
    for (const [socket, response] of owed) if (!response) socket.destroy();
  };

  return async () => {
    const serving = server.listeners('request');
    server.removeAllListeners('request');
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      // The response before it was announced as the last: work for this one would go unheard.
      if (ending.has(request.socket)) return void request.resume();
      endWith(request.socket, response);
      for (const listener of serving) listener.call(server, request, response);
    });
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const [socket, response] of owed) if (response) endWith(socket, response);
    const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
    await closed;
    clearInterval(idleCheck);
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
