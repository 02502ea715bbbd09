import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { forwardTo, type RpcRequest } from '../../testing/ledger/interceptedConnection.ts';

/** A node's answer to one question. */
export interface NodeAnswer {
  result?: unknown;
  error?: unknown;
}

/** Changes an answer, of which it gets a copy of its own. */
export type Change = (request: RpcRequest, answer: NodeAnswer) => NodeAnswer;

/** A node over real HTTP that passes another one's answers on, changed. */
export async function startChangingNode(
  rpcUrl: string,
  change: Change,
): Promise<{ url: string; close(): void }> {
  const forward = forwardTo(rpcUrl);
  const answer = async (request: RpcRequest) => change(request, await forward(request));
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request)) as RpcRequest | RpcRequest[];
    const said = Array.isArray(asked) ? Promise.all(asked.map(answer)) : answer(asked);
    response.end(JSON.stringify(await said));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
