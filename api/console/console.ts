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
import type { WorkerDirectory } from '../workers/directory.ts';
import { accountRoutes } from './contracts/account.ts';
import { jobRoutes } from './contracts/job.ts';
import { networkRoutes } from './contracts/network.ts';
import { operatorRoutes } from './contracts/operator.ts';
import { type ConsoleConfig, sessionRoutes } from './contracts/session.ts';
import { settingsRoutes } from './contracts/settings.ts';
import { usageRoutes } from './contracts/usage.ts';
import { webhookRoutes } from './contracts/webhook.ts';
import { serveRoutes } from './http/serveRoutes.ts';
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
  readiness: () => Promise<Readiness>;
}

/** Serves the web app: its API, and its pages where they were built. @param around what the whole API has in common */
export function serveConsole(
  app: Express,
  services: ConsoleServices,
  around: SharedServices,
): void {
  const { pool, sealing, deployment, operators, secrets, walletLimit, rpc, nowMs } = services;
  const { streams, listeners, signIns, budget } = services;
  const { publicUrl, largeBodies, refusals, webhooks, nowSeconds } = around;
  const addresses = createAddresses(publicKeyOf(deployment.program_id));
  const genesisHash = createGenesisHash(pool);
  const chain = async () => chainOf(await genesisHash());
  const texts = createSignInTexts({ secrets, publicUrl, chain, nowMs });
  const sessions = createSessions({
    database: pool,
    texts,
    operators,
    nowMs,
    gateway: deployment.gateway,
  });
  const guards = { largeBodies, sessions, walletLimit, publicUrl };
  const describe = async (): Promise<ConsoleConfig> => ({
    ...deployment,
    public_url: publicUrl,
    genesis_hash: await genesisHash(),
    chain: await chain(),
  });
  if (services.pages) servePages(app, services.pages, deployment);
  serveRoutes(app, settingsRoutes, settingsHandlers({ pool }), guards);
  serveRoutes(
    app,
    webhookRoutes,
    webhookHandlers({ pool, webhooks, sealing, listeners, budget }),
    guards,
  );
  const { gateway } = deployment;
  serveRoutes(
    app,
    accountRoutes,
    accountHandlers({ database: pool, addresses, gateway, nowSeconds }),
    guards,
  );
  const { program_id: programId } = deployment;
  serveRoutes(
    app,
    networkRoutes,
    networkHandlers({ ...around, database: pool, rpc, programId }),
    guards,
  );
  serveRoutes(app, usageRoutes, usageHandlers({ pool, nowSeconds }), guards);
  serveRoutes(app, operatorRoutes, operatorHandlers({ pool, gateway, nowSeconds }), guards);
  serveRoutes(app, jobRoutes, jobHandlers({ ...around, database: pool, gateway, streams }), guards);
  serveRoutes(
    app,
    sessionRoutes,
    sessionHandlers({ sessions, refusals, signIns, describe }),
    guards,
  );
}
