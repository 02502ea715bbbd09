import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { type AppServices, createApp } from '../../api/app.ts';
import { createLargeBodies } from '../../api/http/largeBodies/largeBodies.ts';
import { createBurstLimit, createKeyAdmission } from '../../api/http/middleware/authentication.ts';
import { serve } from '../../api/http/server.ts';
import { createMetrics } from '../../api/telemetry/metrics.ts';
import { createLogger } from '../../common/logger.ts';
import { openCatalogued } from './catalogued.ts';

export interface ServedApp {
  url: string;
  close(): Promise<void>;
}

/** The app on a port of its own; only the parts that a test's requests touch have to be given. */
export async function serveApp(
  services: Partial<AppServices> = {},
  serverOptions: ServerOptions = {},
): Promise<ServedApp> {
  const { publicUrl = 'https://api.example.com', database } = services;
  const limit = () => createBurstLimit({ burst: 1_000, refillPerSecond: 1, nowMs: () => 0 });
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { catalog = openCatalogued(), nowSeconds = () => 0n } = services;
  const app = createApp({
    logger,
    bursts: limit(),
    refusals: limit(),
    metrics: createMetrics(),
    tracer: trace.getTracer('test'),
    ...(database && {
      keys: createKeyAdmission(database),
      largeBodies: createLargeBodies({ database, catalog, nowSeconds }),
    }),
    publicUrl,
    isDraining: () => false,
    corsOrigins: [],
    trustedProxyHops: 0,
    ...services,
  } as AppServices);
  // A test that computes for long must not lose its connections to Node's default of 5 s.
  const keepAliveTimeout = 75_000;
  const server = createServer({ requireHostHeader: false, keepAliveTimeout, ...serverOptions });
  serve(server, app, publicUrl);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
