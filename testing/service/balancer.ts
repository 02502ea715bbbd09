import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A plain load balancer, as an operator would put it before several instances. */
export interface Balancer {
  url: string;
  /** How many answers ended before their time because their instance did. */
  cuts(): number;
  /** How many answers of an instance have begun. */
  begun(instanceUrl: string): number;
  close(): Promise<void>;
}

/**
 * Gives requests to the instances in turn, and to the next one when an instance refuses the
 * connection. Answers pass as they come, with their trailers; one that breaks off breaks off.
 */
export async function startBalancer(instanceUrls: readonly string[]): Promise<Balancer> {
  const begun = new Map<string, number>();
  let turn = 0;
  let cuts = 0;

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    turn += 1;
    for (let tries = 0; tries < instanceUrls.length; tries += 1) {
      const instanceUrl = instanceUrls[(turn + tries) % instanceUrls.length] as string;
      const onBegun = () => void begun.set(instanceUrl, (begun.get(instanceUrl) ?? 0) + 1);
      try {
        return await relay(instanceUrl, { request, body, response, onBegun });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') continue;
        if (!response.closed) cuts += 1;
        break;
      }
    }
    response.destroy();
  }

  const server = http.createServer((request, response) => void forward(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    begun: (instanceUrl) => begun.get(instanceUrl) ?? 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @throws what breaks the exchange with the instance, or ends it from the client's side */
async function relay(
  instanceUrl: string,
  exchange: {
    request: IncomingMessage;
    body: Buffer;
    response: ServerResponse;
    onBegun: () => void;
  },
): Promise<void> {
  const { request, body, response, onBegun } = exchange;
  const sent = http.request(`${instanceUrl}${request.url}`, {
    method: request.method ?? 'GET',
    headers: withoutConnection(request.headers),
    agent: false,
  });
  response.once('close', () => sent.destroy());
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  response.writeHead(answer.statusCode ?? 500, withoutConnection(answer.headers));
  onBegun();
  for await (const chunk of answer) response.write(chunk);
  response.addTrailers(answer.trailers as http.OutgoingHttpHeaders);
  response.end();
}

/** Connections are each hop's own. */
function withoutConnection(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const { connection: _connection, 'keep-alive': _keepAlive, ...others } = headers;
  return others;
}
