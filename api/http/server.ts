import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { Express } from 'express';
import { ConfigError, describeUnreadable } from '../../common/config.ts';
import { hostInUrl, listenAt } from '../../common/net/urls.ts';
import { refuseMalformed } from './middleware/everyRequest.ts';

interface ServerSettings {
  HOST: string;
  PORT: number;
  SVC_ALLOW_PLAIN_HTTP: boolean;
}

interface TlsSettings {
  TLS_CERT?: string | undefined;
  TLS_KEY?: string | undefined;
}

export type Listening = Awaited<ReturnType<typeof listen>>;

/** A request must arrive within this time. An answer may take as long as a job. */
const REQUEST_TIMEOUT_MS = 60_000;

const HEADERS_TIMEOUT_MS = 15_000;

/** Above the idle time of common proxies, so that the proxies close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Opens the port. It speaks HTTPS when a certificate is configured, and plain HTTP only on loopback
 * or behind a proxy that the operator vouches for.
 *
 * @throws ConfigError when plain HTTP could leave this machine, half of a certificate is given, or
 *   the port cannot be opened
 */
export async function listen(config: ServerSettings & TlsSettings) {
  const { HOST, PORT, SVC_ALLOW_PLAIN_HTTP } = config;
  const tls = readTls(config);
  if (!tls && !loopbackHosts.has(HOST) && !SVC_ALLOW_PLAIN_HTTP) {
    throw new ConfigError(
      'Keys would travel in clear: set TLS_CERT and TLS_KEY, or SVC_ALLOW_PLAIN_HTTP=true behind a proxy.',
    );
  }
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Node would refuse without a body. The app refuses in the usual form.
    requireHostHeader: false,
  };
  const server = tls ? https.createServer({ ...limits, ...tls }) : http.createServer(limits);
  const closing = prepareClosing(server);
  const settings = { host: 'HOST', port: 'PORT' };
  const { port } = await listenAt(server, { host: HOST, port: PORT, settings });
  const url = `${tls ? 'https' : 'http'}://${hostInUrl(HOST)}:${port}`;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= untilAccepted(server).then(closing.close);
    return closed;
  };
  return {
    server,
    /** Where it listens, with the port that the system chose when the configured one is 0. */
    url,
    drain: closing.drain,
    close,
  };
}

/**
 * @throws ConfigError when only one of certificate and key is given, or a file cannot be read or used
 */
export function readTls({
  TLS_CERT,
  TLS_KEY,
}: TlsSettings): { cert: Buffer; key: Buffer } | undefined {
  if (TLS_CERT === undefined && TLS_KEY === undefined) return undefined;
  if (TLS_CERT === undefined || TLS_KEY === undefined) {
    throw new ConfigError('Set both TLS_CERT and TLS_KEY, or neither.');
  }
  const tls = { cert: readPem('TLS_CERT', TLS_CERT), key: readPem('TLS_KEY', TLS_KEY) };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `TLS_CERT and TLS_KEY: must be a certificate chain and its key, both as PEM (${code})`,
    );
  }
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${name}: ${describeUnreadable(path, error)}`);
  }
}

/** Gives requests to the app, which is made after the port is known, since errors link to it. */
export function serve(server: Listening['server'], app: Express, publicUrl: string): void {
  // Node drops what a client sends behind an upgrade request, so that must be its last.
  server.on('request', ({ headers }: http.IncomingMessage, response: http.ServerResponse) => {
    if (headers.upgrade !== undefined) response.setHeader('connection', 'close');
  });
  server.on('request', app);
  refuseMalformed(server, publicUrl);
}

const IDLE_CHECK_INTERVAL_MS = 100;

/** How a server ends with its last response. To be called before it listens. */
export function prepareClosing(server: http.Server | https.Server) {
  const { owed, closeIdle } = trackConnections(server);
  /** Connections whose last response says that it is the last. */
  const ending = new WeakSet<Socket>();
  let isDraining = false;

  // Node's own, which `server.close()` calls, also cuts responses that slow readers still receive.
  server.closeIdleConnections = closeIdle;

  function endWith(socket: Socket, response: http.ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('connection', 'close');
    ending.add(socket);
  }

  /**
   * From now on every response is the last of its connection and says `connection: close`, so that
   * proxies open their next connection elsewhere. Requests are still taken.
   */
  function drain(): void {
    if (isDraining) return;
    isDraining = true;
    const serving = server.listeners('request');
    server.removeAllListeners('request');
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      // The response before it was announced as the last: the client would not read this one's.
      if (ending.has(request.socket)) return void request.resume();
      endWith(request.socket, response);
      for (const listener of serving) listener.call(server, request, response);
    });
    for (const [socket, response] of owed) if (response) endWith(socket, response);
  }

  /**
   * Stops accepting, and resolves when the last response has ended; safe to call again. Connections
   * end as follows:
   *
   * - without an open request: at once
   * - before its first request: half a second after it was opened, since that request may be arriving.
   *   Node counts such a connection as busy
   * - with an open request: after its response, which says `connection: close`. If its headers were
   *   sent before, the next response on the connection says so
   */
  async function close(): Promise<void> {
    drain();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // After what has arrived is read: a request may wait there while the process had no processor.
    const checkIdle = (): void => void setImmediate(() => server.closeIdleConnections());
    const idleCheck = setInterval(checkIdle, IDLE_CHECK_INTERVAL_MS);
    await closed;
    clearInterval(idleCheck);
  }

  return { drain, close };
}

/** A connection this young may have sent its first request already, unread so far. */
const YOUNG_MS = 500;

/** Follows which connections are open, and what they owe. */
function trackConnections(server: http.Server | https.Server) {
  /** Every open connection, and the last response that it owes. */
  const owed = new Map<Socket, http.ServerResponse | undefined>();
  /** Connections in their TLS handshake, by their peer. */
  const handshakes = new Map<string, Socket>();
  /** When connections without a request so far were opened. */
  const unasked = new Map<Socket, number>();

  function opened(socket: Socket): void {
    owed.set(socket, undefined);
    unasked.set(socket, performance.now());
    socket.once('close', () => {
      owed.delete(socket);
      unasked.delete(socket);
    });
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
    unasked.delete(socket);
    response.once('close', () => {
      if (owed.get(socket) === response) owed.set(socket, undefined);
    });
  });

  function closeIdle(): void {
    for (const socket of handshakes.values()) socket.destroy();
    const youngest = performance.now() - YOUNG_MS;
    for (const [socket, response] of owed) {
      if (!response && (unasked.get(socket) ?? 0) < youngest) socket.destroy();
    }
  }

  return { owed, closeIdle };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** In a turn of the event loop this short, hardly any connection can come unseen. */
const QUIET_TURN_MS = 0.1;

/** Then a server that is never quiet closes anyway. */
const TURNS_MAX = 1_000;

/**
 * Resolves right after a short turn in which no connection was there to be accepted: a turn accepts one.
 * When the listener closes, the system resets those that it has taken and the process has not, with the
 * requests on them.
 */
async function untilAccepted(server: http.Server | https.Server): Promise<void> {
  let accepted = 0;
  const count = (): void => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const before = accepted;
    const startedMs = performance.now();
    await nextTurn();
    if (accepted === before && performance.now() - startedMs < QUIET_TURN_MS) break;
  }
  server.off('connection', count);
}
