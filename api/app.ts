import type { Tracer } from '@opentelemetry/api';
import type { Express } from 'express';
import express from 'express';
import type { Logger } from '../common/logger.ts';
import type { Database } from '../common/postgres.ts';
import type { Addresses } from '../programs/client/addresses.ts';
import type { Webhooks } from './account/webhooks.ts';
import { type ConsoleServices, serveConsole } from './console/console.ts';
import { sharedRoutes } from './contracts/index.ts';
import type { LargeBodies } from './http/largeBodies/largeBodies.ts';
import {
  type BurstLimit,
  type KeyAdmission,
  limitBursts,
} from './http/middleware/authentication.ts';
import {
  allowOrigins,
  collapseSlashes,
  nameRequest,
  recordRequests,
  requireWellFormed,
  setSecurityHeaders,
} from './http/middleware/everyRequest.ts';
import { renderError } from './http/middleware/renderError.ts';
import { routeNotFound } from './http/middleware/routeNotFound.ts';
import type { Catalog } from './jobs/catalog.ts';
import type { Completions } from './jobs/completion.ts';
import type { Disputes } from './jobs/dispute.ts';
import type { UnmirroredJobs } from './ledger/jobLookup.ts';
import type { ModelCards } from './models/cards.ts';
import { accountHandlers } from './routes/account.ts';
import { completionHandlers, type IdentifyRequest } from './routes/completions.ts';
import { serveDocs } from './routes/docs.ts';
import { keyEntrance } from './routes/entrances.ts';
import { jobHandlers } from './routes/jobs.ts';
import { createMeasurements } from './routes/measurements.ts';
import { modelHandlers } from './routes/models.ts';
import { type Handlers, serveRoutes } from './routes/serveRoutes.ts';
import { getHealth, getReadiness } from './routes/service.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import type { Readiness } from './status/readiness.ts';
import type { ApiMetrics } from './telemetry/metrics.ts';
import type { WorkerDirectory } from './workers/directory.ts';

export interface AppServices {
  database: Database;
  logger: Logger;
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  completions: Completions;
  identify: IdentifyRequest;
  keys: KeyAdmission;
  unmirrored: UnmirroredJobs;
  disputes: Disputes;
  webhooks: Webhooks;
  /** Without it, there is no web app. */
  console?: ConsoleServices;
  metrics: ApiMetrics;
  tracer: Tracer;
  readiness: () => Promise<Readiness>;
  /** Whether this process has begun to end. */
  isDraining: () => boolean;
  largeBodies: LargeBodies;
  bursts: BurstLimit;
  refusals: BurstLimit;
  addresses: Addresses;
  gateway: string;
  publicUrl: string;
  /** Whether HTTPS is demanded of hosts below the service's own; default: no. */
  bindsSubdomains?: boolean;
  /** Of the tarballs that this release was built with. */
  packagesFolder: string;
  /** Whose pages may call the API from a browser. */
  corsOrigins: readonly string[];
  trustedProxyHops: number;
  nowSeconds: () => bigint;
}

/** The whole API as an express app that somebody else listens with. */
export function createApp(services: AppServices): Express {
  const { logger, publicUrl, bindsSubdomains = false } = services;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Without ETags nothing is ever unchanged, not even for a client that says it has any version.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.set('trust proxy', services.trustedProxyHops);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);

  app.use(collapseSlashes());
  app.use(nameRequest());
  app.use(recordRequests(services));
  app.use(setSecurityHeaders({ isHttps: publicUrl.startsWith('https:'), bindsSubdomains }));
  app.use(allowOrigins(services.corsOrigins));
  app.use(limitBursts(services.bursts));
  app.use(requireWellFormed());

  const measurements = createMeasurements(services);
  const handlers: Handlers<typeof sharedRoutes> = {
    ...completionHandlers(services),
    ...modelHandlers({ ...services, measurements }),
    ...jobHandlers(services),
    ...accountHandlers(services),
    ...webhookHandlers(services),
  };
  const entrance = keyEntrance(services);
  serveRoutes(app, sharedRoutes, handlers, { entrance, largeBodies: services.largeBodies });
  app.get('/health', getHealth(services));
  app.get('/ready', getReadiness(services));
  const frame = serveDocs(app, services);
  if (services.console) {
    serveConsole(app, services.console, { ...services, measurements }, handlers);
  }

  app.use(routeNotFound(app, { publicUrl, frame }));
  app.use(renderError({ logger, publicUrl }));
  return app;
}
