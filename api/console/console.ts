import type { Express } from 'express';
import type { Database } from '../../common/postgres.ts';
import type { BurstLimit, Limit } from '../http/middleware/burstLimit.ts';
import { type ConsoleConfig, sessionRoutes } from './contracts/session.ts';
import { serveRoutes } from './http/serveRoutes.ts';
import { chainOf, createGenesisHash } from './ledgerName.ts';
import type { PageFiles } from './pages/files.ts';
import { servePages } from './pages/servePages.ts';
import { sessionHandlers } from './routes/session.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSignInTexts } from './sessions/signInText.ts';

/** What the web app's API is made of. */
export interface ConsoleServices {
  database: Database;
  /** What the pages have to know, but for the ledger, which the mirror knows. */
  deployment: Omit<ConsoleConfig, 'chain' | 'genesis_hash' | 'public_url'>;
  operators: readonly string[];
  /** The built pages; without them only their API is served. */
  pages?: PageFiles | undefined;
  /** Seal the nonces of sign-ins: the first makes new ones. */
  secrets: readonly Uint8Array[];
  /** Requests of one wallet, over all its sessions. */
  walletLimit: Limit;
  /** Unix milliseconds. */
  nowMs: () => number;
}

/** Serves the web app: its API, and its pages where they were built. @param around what the whole API has in common */
export function serveConsole(
  app: Express,
  services: ConsoleServices,
  around: { publicUrl: string; refusals: BurstLimit },
): void {
  const { database, deployment, operators, secrets, walletLimit, nowMs } = services;
  const { publicUrl, refusals } = around;
  const genesisHash = createGenesisHash(database);
  const chain = async () => chainOf(await genesisHash());
  const texts = createSignInTexts({ secrets, publicUrl, chain, nowMs });
  const sessions = createSessions({
    ...{ database, texts, operators, nowMs },
    gateway: deployment.gateway,
  });
  const guards = { sessions, walletLimit, publicUrl };
  const describe = async (): Promise<ConsoleConfig> => ({
    ...deployment,
    public_url: publicUrl,
    genesis_hash: await genesisHash(),
    chain: await chain(),
  });
  if (services.pages) servePages(app, services.pages, deployment);
  serveRoutes(app, sessionRoutes, sessionHandlers({ sessions, refusals, describe }), guards);
}
