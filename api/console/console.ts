import type { Express } from 'express';
import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { Sealing } from '../../common/sealing.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import type { Budget } from '../../webhookOperations/budget.ts';
import type { Webhooks } from '../account/webhooks.ts';
import { pageRoutes, sharedRoutes } from '../contracts/index.ts';
import type { ConsoleConfig } from '../contracts/session.ts';
import type { BurstLimit, KeyAdmission, Limit } from '../http/middleware/authentication.ts';
import type { CompletionBodies } from '../http/middleware/requestBody.ts';
import type { Catalog } from '../jobs/catalog.ts';
import { deliveryHandlers } from '../routes/deliveries.ts';
import { pageEntrance } from '../routes/entrances.ts';
import type { Measurements } from '../routes/measurements.ts';
import { networkHandlers } from '../routes/network.ts';
import { operatorHandlers } from '../routes/operator.ts';
import { type Handlers, serveRoutes } from '../routes/serveRoutes.ts';
import { sessionHandlers } from '../routes/session.ts';
import { settingsHandlers } from '../routes/settings.ts';
import { usageHandlers } from '../routes/usage.ts';
import { webhookOperationHandlers } from '../routes/webhookOperations.ts';
import { createSessions } from '../sessions/sessions.ts';
import { createSignInTexts } from '../sessions/signInText.ts';
import { selectGenesisHash } from '../sql/sessions.ts';
import type { Readiness } from '../status/readiness.ts';
import type { WebhookListeners } from '../stream/webhookListeners.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import type { PageFiles } from './pages/files.ts';
import { servePages } from './pages/servePages.ts';

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
  listeners: WebhookListeners;
  /** The budget of deliveries that owners of webhooks ask for. */
  budget: Budget;
  rpc: Pick<Rpc, 'ask'>;
  nowMs: () => number;
}

/** Services of the whole API that the web app uses. */
interface SharedServices {
  publicUrl: string;
  bodies: CompletionBodies;
  refusals: BurstLimit;
  webhooks: Webhooks;
  nowSeconds: () => bigint;
  keys: KeyAdmission;
  catalog: Catalog;
  directory: WorkerDirectory;
  measurements: Measurements;
  readiness: () => Promise<Readiness>;
}

/**
 * Serves the web app: its API, and its pages where they are built.
 *
 * @param handlers of the routes that keys may call, too
 */
export function serveConsole(
  app: Express,
  services: ConsoleServices,
  shared: SharedServices,
  handlers: Handlers<typeof sharedRoutes>,
): void {
  const { pool, deployment, operators, secrets, nowMs } = services;
  const { publicUrl, bodies } = shared;
  const { gateway, program_id: programId } = deployment;
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

  const own = { database: pool, gateway, programId, sessions, describe };
  const all = { ...services, ...shared, ...own };
  const entrance = pageEntrance(all);
  if (services.pages) servePages(app, services.pages, deployment);
  serveRoutes(app, sharedRoutes, handlers, { entrance, bodies });
  const pageHandlers: Handlers<typeof pageRoutes> = {
    ...webhookOperationHandlers(all),
    ...deliveryHandlers(all),
    ...usageHandlers(all),
    ...networkHandlers(all),
    ...settingsHandlers(all),
    ...sessionHandlers(all),
    ...operatorHandlers(all),
  };
  serveRoutes(app, pageRoutes, pageHandlers, { entrance, bodies });
}

/** The public clusters by the beginnings of their genesis hashes, which name chains everywhere. */
const CLUSTERS: Readonly<Record<string, string>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'mainnet',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: 'devnet',
  '4uhcVJyU9pJkvQyS88uRDiswHXSGkY9z': 'testnet',
};
const NAME_LENGTH = 32;

/** What wallets call a ledger, by its genesis hash. */
function chainOf(genesisHash: string | null): string {
  const cluster = CLUSTERS[genesisHash?.slice(0, NAME_LENGTH) ?? ''];
  return `solana:${cluster ?? 'localnet'}`;
}

/** Reads the genesis hash of the mirror's ledger, until it is known. */
function createGenesisHash(database: Database): () => Promise<string | null> {
  let known: string | undefined;
  return async () => {
    known ??= await selectGenesisHash(database);
    return known ?? null;
  };
}
