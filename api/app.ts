import type { Tracer } from '@opentelemetry/api';
import type { Express, RequestHandler } from 'express';
import express from 'express';
import type { Logger } from '../common/logger.ts';
import type { Database } from '../common/postgres.ts';
import { type ConsoleServices, serveConsole } from './console/console.ts';
import { createChatCompletionParser } from './contracts/chatCompletion.ts';
import { sharedRoutes } from './contracts/index.ts';
import { createResponsesParser } from './contracts/responses.ts';
import { NO_PREVIEW } from './contracts/tools.ts';
import type { Packages } from './docs/packagesPage.ts';
import type { LargeBodies } from './http/largeBodies/largeBodies.ts';
import { type BurstLimit, limitBursts } from './http/middleware/authentication.ts';
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
import { type AccountServices, accountHandlers } from './routes/account.ts';
import { type CompletionServices, completionHandlers } from './routes/completions.ts';
import { serveDocs } from './routes/docs.ts';
import { type KeyServices, keyEntrance } from './routes/entrances.ts';
import { type JobServices, jobHandlers } from './routes/jobs.ts';
import { createMeasurements } from './routes/measurements.ts';
import { type ModelServices, modelHandlers } from './routes/models.ts';
import { type Handlers, serveRoutes } from './routes/serveRoutes.ts';
import { type WebhookServices, webhookHandlers } from './routes/webhooks.ts';
import type { Readiness } from './status/readiness.ts';
import type { ApiMetrics } from './telemetry/metrics.ts';

export interface AppServices
  extends CompletionServices,
    ModelServices,
    JobServices,
    AccountServices,
    WebhookServices,
    KeyServices,
    Packages {
  database: Database;
  logger: Logger;
  /** Without it, there is no web app. */
  console?: ConsoleServices;
  metrics: ApiMetrics;
  tracer: Tracer;
  readiness: () => Promise<Readiness>;
  largeBodies: LargeBodies;
  bursts: BurstLimit;
  /** Whether HTTPS is demanded of hosts below the service's own; default: no. */
  bindsSubdomains?: boolean;
  /** Whose pages may call the API from a browser. */
  corsOrigins: readonly string[];
  trustedProxyHops: number;
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
  const { largeBodies, preview = NO_PREVIEW } = services;
  const parsers = {
    'chat completion': createChatCompletionParser(preview),
    response: createResponsesParser(preview),
  };
  const bodies = { largeBodies, parsers };
  serveRoutes(app, sharedRoutes, handlers, { entrance, bodies });
  app.get('/health', getHealth(services));
  app.get('/ready', getReadiness(services));
  const frame = serveDocs(app, services);
  if (services.console) {
    serveConsole(app, services.console, { ...services, bodies, measurements }, handlers);
  }

  app.use(routeNotFound(app, { publicUrl, frame }));
  app.use(renderError({ logger, publicUrl }));
  return app;
}

/** GET /health: the process is up; 503 once it has begun to end, so that balancers leave it. */
function getHealth(options: { isDraining: () => boolean }): RequestHandler {
  return (_request, response) => {
    const isDraining = options.isDraining();
    response.status(isDraining ? 503 : 200).json({ status: isDraining ? 'draining' : 'ok' });
  };
}

/** GET /ready: 200 while all that a completion needs is there; else 503 and which part is not. */
function getReadiness(options: { readiness: () => Promise<Readiness> }): RequestHandler {
  return async (_request, response) => {
    const { status, parts } = await options.readiness();
    response
      .status(status === 'ready' ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({ status, parts });
  };
}
