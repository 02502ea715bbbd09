import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request of an agent, and how it was answered. */
interface Exchange {
  readonly path: string;
  /** The size of its body. */
  readonly bytes: number;
  readonly headers: http.IncomingHttpHeaders;
}

/** Stands between an agent and the service, and keeps what neither shows. */
export async function startRecorder(serviceUrl: string) {
  const exchanges: Exchange[] = [];
  const server = http.createServer(async (request, response) => {
    const { url: path = '', method = 'GET', headers } = request;
    const body = await buffer(request);
    const sent = http.request(`${serviceUrl}${path}`, { method, headers, agent: false });
    response.once('close', () => sent.destroy());
    sent.once('error', () => response.destroy());
    sent.once('response', (answer) => {
      exchanges.push({ path, bytes: body.length, headers: answer.headers });
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    sent.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What came since the last time. */
    take: () => exchanges.splice(0),
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}
