import express, { type Express } from 'express';
import type { Logger } from '../runtime/logger.ts';
import type { Database } from '../runtime/postgres.ts';
import type { Completions } from './completion/completions.ts';
import type { UnmirroredJobs } from './ledger/unmirroredJobs.ts';
import { authenticate } from './middleware/authenticate.ts';
import { type BurstLimit, limitBursts } from './middleware/burstLimit.ts';
import { renderError, routeNotFound } from './middleware/renderError.ts';
import { nameRequest } from './middleware/requestId.ts';
import { getAccount } from './routes/account.ts';
import { postChatCompletion } from './routes/chatCompletions.ts';
import { getErrorDocs } from './routes/errorDocs.ts';
import { getJob, getJobs } from './routes/jobs.ts';
import { getModel, listModels } from './routes/models.ts';
import type { WorkerDirectory } from './routing/workerDirectory.ts';
import type { Catalog } from './services/catalog.ts';

const BODY_BYTES_MAX = 4 * 1_024 * 1_024;

export interface AppServices {
  database: Database;
  logger: Logger;
  catalog: Catalog;
  directory: WorkerDirectory;
  completions: Completions;
  unmirrored: UnmirroredJobs;
  bursts: BurstLimit;
  refusals: BurstLimit;
  /** The Gateway account's address. */
  gateway: string;
  publicUrl: string;
  trustedProxyHops: number;
}

/** The whole of /v1 as an express app that somebody else listens with. */
export function createApp(services: AppServices): Express {
  const { database, logger, completions, unmirrored, gateway, publicUrl } = services;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', services.trustedProxyHops);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);

  app.use(nameRequest());
  app.use(limitBursts(services.bursts));
  app.get('/health', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/docs/errors', getErrorDocs());

  const auth = authenticate({ database, refusals: services.refusals });
  // Any content type: some clients send none, and the body itself tells whether it is JSON.
  const json = express.json({ limit: BODY_BYTES_MAX, strict: false, type: () => true });
  app.post('/v1/chat/completions', auth, json, postChatCompletion({ completions, gateway }));
  app.get('/v1/models', auth, listModels(services));
  app.get('/v1/models/:model_id', auth, getModel(services));
  app.get('/v1/jobs', auth, getJobs({ database }));
  app.get('/v1/jobs/:job_id', auth, getJob({ database, unmirrored }));
  app.get('/v1/account', auth, getAccount());

  app.use(routeNotFound());
  app.use(renderError({ logger, publicUrl }));
  return app;
}
