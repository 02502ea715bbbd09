import { Connection } from '@solana/web3.js';

export interface RpcRequest {
  id: string;
  method: string;
  params: unknown[];
}

/** Passes a request on to the real node and returns its answer. */
export type Forward = (request: RpcRequest) => Promise<object>;

export function forwardTo(rpcUrl: string): Forward {
  return async (request) => {
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    return (await answer.json()) as object;
  };
}

/** A connection to the real node that loses or changes requests as the test decides. */
export function interceptedConnection(
  rpcUrl: string,
  intercept: (request: RpcRequest, forward: Forward) => Promise<object>,
): Connection {
  const forward = forwardTo(rpcUrl);
  return new Connection(rpcUrl, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: async (_url, init) => {
      const request = JSON.parse(String(init?.body)) as RpcRequest;
      return new Response(JSON.stringify(await intercept(request, forward)));
    },
  });
}

/** A node's answer to an accepted transaction. */
export function accepted({ id }: RpcRequest): object {
  return { jsonrpc: '2.0', id, result: 'accepted' };
}
