import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node says to a request, which is one question or a list; undefined: nothing, ever. */
export type Says = (asked: Asked | Asked[]) => { status?: number; body: string } | undefined;

/** A node of a test's own over real HTTP. */
export interface RpcNode {
  readonly url: string;
  /** Every request that arrived. */
  readonly requests: (Asked | Asked[])[];
  /** Resolves with the next request. */
  reached(): Promise<unknown>;
  says: Says;
  close(): Promise<void>;
}

/** Answers each question with its own parameters. */
export const echo: Says = (asked) => ({
  body: JSON.stringify(Array.isArray(asked) ? asked.map(echoed) : echoed(asked)),
});

export const echoed = ({ id, params }: Asked) => ({ jsonrpc: '2.0', id, result: params });

export async function startRpcNode(): Promise<RpcNode> {
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request)) as Asked | Asked[];
    node.requests.push(asked);
    server.emit('asked');
    const said = node.says(asked);
    if (said) response.writeHead(said.status ?? 200).end(said.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const node: RpcNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: [],
    reached: () => once(server, 'asked'),
    says: echo,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return node;
}
