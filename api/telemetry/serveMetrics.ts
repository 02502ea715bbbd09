import { once } from 'node:events';
import { createServer } from 'node:http';
import { hostInUrl } from '../../runtime/hostInUrl.ts';
import { listenAt } from '../../runtime/listenAt.ts';
import type { ApiMetrics } from './metrics.ts';

/**
 * Serves GET /metrics on a port of its own: how much goes through is the operator's business, and a
 * port that is never published cannot be reached by a mistake in a proxy's rules.
 *
 * @param options.port 0 lets the system choose one
 */
export async function serveMetrics(options: {
  metrics: ApiMetrics;
  host: string;
  port: number;
}): Promise<{ url: string; close(): Promise<void> }> {
  const { registry } = options.metrics;
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const { address, port } = await listenAt(server, {
    ...{ host: options.host, port: options.port },
    settings: { host: 'METRICS_HOST', port: 'METRICS_PORT' },
  });
  return {
    url: `http://${hostInUrl(address)}:${port}/metrics`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
