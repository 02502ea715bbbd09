import { createServer, type Server } from 'node:http';
import type { Indexer } from './indexer.ts';
import type { IndexerMetrics } from './telemetry/metrics.ts';

/**
 * Serves:
 *
 * - `/health`: 200 while the process is up
 * - `/ready`: 200 on standby, or while the mirror is current and agrees with the ledger; else 503
 * - `/metrics`: Prometheus's text
 */
export function createStatusServer(indexer: Indexer, metrics: IndexerMetrics): Server {
  return createServer((request, response) => {
    const reply = (status: number, body: string, type = 'application/json') => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    const health = indexer.health();
    switch (request.url) {
      case '/health':
        return reply(200, JSON.stringify(health));
      case '/ready':
        return reply(health.isReady ? 200 : 503, JSON.stringify(health));
      case '/metrics':
        return void metrics.registry
          .metrics()
          .then((text) => reply(200, text, metrics.registry.contentType));
      default:
        return reply(404, JSON.stringify({ error: 'not found' }));
    }
  });
}
