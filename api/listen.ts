import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Express } from 'express';
import { ConfigError } from '../runtime/config.ts';
import { hostInUrl } from '../runtime/hostInUrl.ts';
import { listenAt } from '../runtime/listenAt.ts';
import type { ApiConfig } from './config.ts';
import { refuseMalformed } from './middleware/malformedHttp.ts';
import { prepareClosing } from './serverClosing.ts';

/** A request's body must arrive in this time; answers may take as long as a job may. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Above the idle time of common proxies, so that they are the ones to close. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost']);

export interface Listening {
  server: http.Server | https.Server;
  /** Where it listens, with the port that the system chose when the configured one is 0. */
  url: string;
  /** Stops accepting, and resolves when the last response has ended. */
  close: () => Promise<void>;
}

/** @throws ConfigError when half of a certificate is given: it would be left out without a word */
function readTls({ TLS_CERT, TLS_KEY }: ApiConfig): { cert: Buffer; key: Buffer } | undefined {
  if (TLS_CERT === undefined && TLS_KEY === undefined) return undefined;
  if (TLS_CERT === undefined || TLS_KEY === undefined) {
    throw new ConfigError('Set both TLS_CERT and TLS_KEY, or neither.');
  }
  return { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
}

/**
 * Opens the port: with HTTPS when a certificate is configured; with plain HTTP only where nobody can
 * listen in: on loopback, or behind a proxy that the operator vouches for.
 *
 * @throws ConfigError when plain HTTP would leave this machine unasked, half of a certificate is
 *   given, or the port cannot be opened
 */
export async function listen(config: ApiConfig): Promise<Listening> {
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
    // Node would refuse such a request without a word; the app refuses it in the usual shape.
    requireHostHeader: false,
  };
  const server = tls ? https.createServer({ ...limits, ...tls }) : http.createServer(limits);
  const close = prepareClosing(server);
  const settings = { host: 'HOST', port: 'PORT' };
  const { port } = await listenAt(server, { host: HOST, port: PORT, settings });
  const url = `${tls ? 'https' : 'http'}://${hostInUrl(HOST)}:${port}`;
  return { server, url, close };
}

/** Hands what arrives to the app, which is made after the port is known: errors link to it. */
export function serve(server: Listening['server'], app: Express, publicUrl: string): void {
  // Nothing is upgraded; Node drops what was sent behind such a request, so none may wait there.
  server.on('request', ({ headers }: http.IncomingMessage, response: http.ServerResponse) => {
    if (headers.upgrade !== undefined) response.setHeader('connection', 'close');
  });
  server.on('request', app);
  refuseMalformed(server, publicUrl);
}
