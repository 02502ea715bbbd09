import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { hostInUrl, listenAt } from './urls.ts';

/**
 * Serves GET /metrics on a port of its own. Metrics are for the operator alone, and no mistake in a
 * proxy's rules can publish a port that it does not know.
 *
 * @param options.port 0 lets the system choose one
 * @param options.settings what host and port are called in the environment
 * @param options.reports what else is served, as JSON, by its path
 * @throws ConfigError when the port is occupied or not permitted
 */
export async function serveMetrics(options: {
  registry: Registry;
  host: string;
  port: number;
  settings: { host: string; port: string };
  reports?: Readonly<Record<string, () => unknown>>;
}): Promise<{ url: string; close(): Promise<void> }> {
  const { registry, host, settings, reports = {} } = options;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    const report = Object.hasOwn(reports, url) ? reports[url] : undefined;
    if (method === 'GET' && report) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(report()));
      return;
    }
    if (method !== 'GET' || url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const { address, port } = await listenAt(server, { host, port: options.port, settings });
  return {
    url: `http://${hostInUrl(address)}:${port}/metrics`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
