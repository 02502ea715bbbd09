import { createRpc, type Post, type Rpc, type RpcOptions } from './rpc.ts';

/** A client of the node at this address, by `fetch`, on Node and in browsers. */
export function connectRpc({ url, ...options }: RpcOptions & { url: string }): Rpc {
  // Node runs it behind all that this turn of the event loop asks; browsers have nothing like it.
  const later = globalThis.setImmediate as typeof setImmediate | undefined;
  return createRpc({ ...options, post: createPost(url), ...(later && { later }) });
}

/** Time limits are the client's own. */
function createPost(url: string): Post {
  const headers = { 'content-type': 'application/json' };
  return async (body, signal) => {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    return { status: response.status, text: await response.text() };
  };
}
