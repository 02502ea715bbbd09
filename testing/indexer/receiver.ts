import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes, which the signature covers. */
  readonly body: string;
}

/** A client's endpoint on loopback. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Its answer from now on; initially 200. */
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const delivery = { headers: request.headers, body: Buffer.concat(chunks).toString() };
    receiver.received.push(delivery);
    receiver.answer(response, delivery);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (response) => void response.end('thank you'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

export function refuse(response: ServerResponse): void {
  response.writeHead(500).end('not now');
}
