import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { answerBody, createResponder, type OnFault } from './answer.ts';
import { assertOwnCaller } from './callers.ts';
import { invalidRequest, type RpcContext } from './protocol/method.ts';
import { createSubscriptions } from './subscriptions.ts';

/** Enough for a thousand transactions, or for a program of half a megabyte. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** A websocket with more unread bytes is closed. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;
/** The number of attempts to find two neighbouring free ports. */
const PAIRS_TRIED_MAX = 50;
const CORS_AGE_SECONDS = '86400';

/** A port that cannot be opened; the message names it. */
export class PortError extends Error {
  override name = 'PortError';
}

/**
 * Answers JSON-RPC over HTTP at a port and over websockets at the next one, as clients expect.
 *
 * @param options.port 0: any free pair
 * @throws PortError with the port that cannot be opened
 */
export async function startRpcServer(
  context: RpcContext,
  options: { host: string; port: number; onFault: OnFault },
) {
  const { host, port, onFault } = options;
  const respond = createResponder(context, onFault);
  const http = createServer((request, response) => {
    serve(request, response, respond).catch(onFault);
  });
  // A local ledger has no reason to close its clients' idle connections.
  http.keepAliveTimeout = 0;
  const webHttp = createServer((_, response) => response.writeHead(426).end());
  const websockets = new WebSocketServer({ noServer: true, maxPayload: BODY_BYTES_MAX });
  for (const server of [http, webHttp]) {
    server.on('upgrade', (request, socket, head) => {
      websockets.handleUpgrade(request, socket, head, (client) => {
        websockets.emit('connection', client, request);
      });
    });
  }
  websockets.on('connection', (client, request) => {
    const subscriptions = createSubscriptions(context, (message) => {
      if (client.bufferedAmount > UNREAD_BYTES_MAX) client.terminate();
      else client.send(message);
    });
    client.on('message', (data) => {
      const answered = answerBody(String(data), (name, params) => {
        assertOwnCaller(name, request);
        const subscribing = subscriptions.method(name);
        return subscribing ? subscribing.answer(context, params) : respond(name, params);
      });
      answered.then((answer) => answer !== undefined && client.send(answer), onFault);
    });
    client.on('close', subscriptions.close);
    // A broken connection also emits `close`.
    client.on('error', () => client.terminate());
  });
  const listening = await listenAtPair(http, webHttp, { host, port });
  const authority = host.includes(':') ? `[${host}]` : host;
  return {
    rpcUrl: `http://${authority}:${listening}`,
    wsUrl: `ws://${authority}:${listening + 1}`,
    async close(): Promise<void> {
      for (const client of websockets.clients) client.terminate();
      for (const server of [http, webHttp]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  respond: Parameters<typeof answerBody>[1],
): Promise<void> {
  response.setHeader('access-control-allow-origin', '*');
  if (request.method === 'OPTIONS') return allow(request, response);
  if (request.method === 'GET' && request.url === '/health') {
    response.end('ok');
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST, GET, OPTIONS' }).end();
    return;
  }
  const body = await readBody(request).catch(() => null);
  // A client that disconnected during its request gets no answer.
  if (body === null) return;
  if (body === undefined) {
    const { code, message } = invalidRequest(`the body has more than ${BODY_BYTES_MAX} bytes`);
    reply(response, 413, JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
    return;
  }
  const answer = await answerBody(body, (name, params) => {
    assertOwnCaller(name, request);
    return respond(name, params);
  });
  if (answer === undefined) response.writeHead(204).end();
  else reply(response, 200, answer);
}

function allow(request: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(204, {
      'access-control-allow-methods': 'POST, GET, OPTIONS',
      'access-control-allow-headers':
        request.headers['access-control-request-headers'] ?? 'content-type',
      'access-control-max-age': CORS_AGE_SECONDS,
    })
    .end();
}

function reply(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}

/** @returns undefined when the body is too long */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    // The rest is read, too, or the connection would close before the client reads the answer.
    if (bytes <= BODY_BYTES_MAX) parts.push(part);
  }
  return bytes > BODY_BYTES_MAX ? undefined : Buffer.concat(parts).toString('utf8');
}

/** @returns the first port */
async function listenAtPair(
  first: Server,
  second: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    await listen(first, host, port);
    const { port: found } = first.address() as AddressInfo;
    try {
      await listen(second, host, found + 1);
      return found;
    } catch (error) {
      first.close();
      await once(first, 'close');
      if (port !== 0 || tried === PAIRS_TRIED_MAX) throw error;
    }
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE' ? 'is taken: name another port' : `cannot be listened on (${code})`;
    throw new PortError(`Port ${port} of ${host} ${why}`, { cause: error });
  }
}
