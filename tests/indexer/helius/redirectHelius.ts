/**
 * Makes requests to Helius go elsewhere: the SDK has no setting for where its REST API is.
 *
 * @returns takes it back
 */
export function redirectHelius(origin: string): () => void {
  const send = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!url.hostname.endsWith('.helius-rpc.com')) return send(input, init);
    return send(new URL(`${url.pathname}${url.search}`, origin), init);
  };
  return () => {
    globalThis.fetch = send;
  };
}
