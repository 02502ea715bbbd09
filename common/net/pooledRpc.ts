import { type Dispatcher, Pool } from 'undici';
import { createRpc, type Post, type Rpc, type RpcOptions } from '../../programs/client/rpc/rpc.ts';

/** So many requests at a time, each on a connection that is kept for the next. */
const CONNECTIONS_MAX = 64;

/**
 * A client of the node at this address, as `connectRpc` gives it, for callers that ask often. Its
 * connections keep no process from ending.
 */
export function connectPooledRpc({ url, ...options }: RpcOptions & { url: string }): Rpc {
  return createRpc({ ...options, post: createPost(url), later: setImmediate });
}

/**
 * Time limits are the client's own. It calls undici's dispatcher directly: undici's streams and
 * those of `fetch` cost more than the rest of a small request.
 */
function createPost(url: string): Post {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connections: CONNECTIONS_MAX,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const request = {
    method: 'POST',
    path: pathname + search,
    headers: { 'content-type': 'application/json' },
  } as const;
  return (body, signal) =>
    new Promise((resolve, reject) => {
      let controller: Dispatcher.DispatchController | undefined;
      let status = 0;
      const chunks: Buffer[] = [];
      const abort = (): void => {
        controller?.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      pool.dispatch(
        { ...request, body },
        {
          onRequestStart(started) {
            controller = started;
            if (signal.aborted) abort();
          },
          onResponseStart(_controller, statusCode) {
            status = statusCode;
          },
          onResponseData(_controller, chunk) {
            chunks.push(chunk);
          },
          onResponseEnd() {
            const [first, ...more] = chunks;
            const bytes = first && more.length === 0 ? first : Buffer.concat(chunks);
            resolve({ status, text: bytes.toString() });
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
}
