import type { Express } from 'express';
import type pg from 'pg';
import type { Sealing } from '../../common/sealing.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import type { Budget } from '../../webhookOperations/budget.ts';
import type { Webhooks } from '../account/webhooks.ts';
import type { LargeBodies } from '../http/largeBodies/largeBodies.ts';
import type { KeyAdmission } from '../http/middleware/authentication.ts';
import type { BurstLimit, Limit } from '../http/middleware/burstLimit.ts';
import type { Readiness } from '../http/routes/readiness.ts';
import type { Catalog } from '../jobs/catalog.ts';
import type { Completions } from '../jobs/completion.ts';
import type { Disputes } from '../jobs/dispute.ts';
import type { IdentifyRequest } from '../jobs/requestIdentity.ts';
import type { ModelCards } from '../models/cards.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import { accountRoutes } from './contracts/account.ts';
import { jobRoutes } from './contracts/job.ts';
import { networkRoutes } from './contracts/network.ts';
import { operatorRoutes } from './contracts/operator.ts';
import type { ConsoleRoute } from './contracts/route.ts';
import { type ConsoleConfig, sessionRoutes } from './contracts/session.ts';
import { settingsRoutes } from './contracts/settings.ts';
import { usageRoutes } from './contracts/usage.ts';
import { webhookRoutes } from './contracts/webhook.ts';
import { type Handlers, serveRoutes } from './http/serveRoutes.ts';
import { chainOf, createGenesisHash } from './ledgerName.ts';
import type { PageFiles } from './pages/files.ts';
import { servePages } from './pages/servePages.ts';
import { accountHandlers } from './routes/account.ts';
import { jobHandlers } from './routes/jobs.ts';
import { networkHandlers } from './routes/network.ts';
import { operatorHandlers } from './routes/operator.ts';
import { sessionHandlers } from './routes/session.ts';
import { settingsHandlers } from './routes/settings.ts';
import { usageHandlers } from './routes/usage.ts';
import { webhookHandlers } from './routes/webhooks.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSignInTexts } from './sessions/signInText.ts';
import type { ChangeStreams } from './stream/changes.ts';
import type { WebhookListeners } from './stream/webhookListeners.ts';

export interface ConsoleServices {
  pool: pg.Pool;
  /** Opens webhook secrets, and seals new ones. */
  sealing: Sealing;
  /** What the pages have to know. The mirror knows the ledger's part. */
  deployment: Omit<ConsoleConfig, 'chain' | 'genesis_hash' | 'public_url'>;
  operators: readonly string[];
  /** The built pages; without them only their API is served. */
  pages?: PageFiles | undefined;
  /** Keys that seal the nonces of sign-ins. The first seals new ones. */
  secrets: readonly Uint8Array[];
  walletLimit: Limit;
  signIns: BurstLimit;
  streams: ChangeStreams;
  listeners: WebhookListeners;
  /** The budget of deliveries that owners of webhooks ask for. */
  budget: Budget;
  rpc: Pick<Rpc, 'ask'>;
  nowMs: () => number;
}

/** Services of the whole API that the web app uses. */
interface SharedServices {
  publicUrl: string;
  largeBodies: LargeBodies;
  refusals: BurstLimit;
  webhooks: Webhooks;
  nowSeconds: () => bigint;
  disputes: Disputes;
  completions: Completions;
  identify: IdentifyRequest;
  keys: KeyAdmission;
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  readiness: () => Promise<Readiness>;
}

/** Serves the web app: its API, and its pages where they are built. */
export function serveConsole(
  app: Express,
  services: ConsoleServices,
  shared: SharedServices,
): void {
  const { pool, deployment, operators, secrets, walletLimit, nowMs } = services;
  const { publicUrl, largeBodies } = shared;
  const { gateway, program_id: programId } = deployment;
  const addresses = createAddresses(publicKeyOf(programId));
  const genesisHash = createGenesisHash(pool);
  const chain = async () => chainOf(await genesisHash());
  const texts = createSignInTexts({ secrets, publicUrl, chain, nowMs });
  const sessions = createSessions({ database: pool, texts, operators, nowMs, gateway });
  const describe = async (): Promise<ConsoleConfig> => ({
    ...deployment,
    public_url: publicUrl,
    genesis_hash: await genesisHash(),
    chain: await chain(),
  });

  const guards = { largeBodies, sessions, walletLimit, publicUrl };
  const own = { database: pool, gateway, programId, addresses, sessions, describe };
  const all = { ...services, ...shared, ...own };
  const serve = <Routes extends Record<string, ConsoleRoute>>(
    routes: Routes,
    handlers: Handlers<Routes>,
  ) => serveRoutes(app, routes, handlers, guards);
  if (services.pages) servePages(app, services.pages, deployment);
  serve(settingsRoutes, settingsHandlers(all));
  serve(webhookRoutes, webhookHandlers(all));
  serve(accountRoutes, accountHandlers(all));
  serve(networkRoutes, networkHandlers(all));
  serve(usageRoutes, usageHandlers(all));
  serve(operatorRoutes, operatorHandlers(all));
  serve(jobRoutes, jobHandlers(all));
  serve(sessionRoutes, sessionHandlers(all));
}
