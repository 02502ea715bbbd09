/**
 * Where a node's websocket is, unless one is told: at the same address, and on the next port where
 * a port is named, as validators have it.
 */
export function websocketUrlOf(rpcUrl: string): string {
  const url = new URL(rpcUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (url.port !== '') url.port = String(Number(url.port) + 1);
  return url.href;
}
