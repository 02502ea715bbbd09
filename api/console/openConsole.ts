import { fileURLToPath } from 'node:url';
import type { PublicKey } from '@solana/web3.js';
import type pg from 'pg';
import type { Logger } from '../../common/logger.ts';
import { createSealing } from '../../common/sealing.ts';
import type { Shutdown } from '../../common/shutdown.ts';
import type { Time } from '../../common/wait.ts';
import { createBurstLimit, createLimit } from '../http/middleware/authentication.ts';
import type { LedgerContext } from '../ledger/context.ts';
import type { Readiness } from '../status/readiness.ts';
import { recordReadiness } from '../status/record.ts';
import { createOpenStreams } from '../stream/openStreams.ts';
import { createWebhookListeners } from '../stream/webhookListeners.ts';
import type { ConsoleServices } from './console.ts';
import { assertDevelopment } from './developmentWallet.ts';
import { type PageFiles, readPageFiles } from './pages/files.ts';

/** Where a build puts the pages of the web app. */
const PAGES_FOLDER = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** Requests of one wallet to the web app's API: far more than one person's pages make. */
const WALLET_LIMIT = { burst: 300, refillPerSecond: 30 };

/** Sign-ins of one address. Each leaves a session for 12 hours, and wallets cost nothing to make. */
const SIGN_IN_LIMIT = { burst: 300, refillPerSecond: 0.1 };

interface ConsoleSettings {
  HOST: string;
  SVC_GATEWAY: PublicKey;
  SVC_ALLOW_LOOPBACK: boolean;
  SVC_SECRETS_KEY: Buffer;
  SVC_SECRETS_KEY_PREVIOUS?: Buffer | undefined;
  SVC_CONSOLE_RPC_URL?: string | undefined;
  SVC_CONSOLE_DEVELOPMENT_WALLET_URL?: string | undefined;
  SVC_CONSOLE_OPERATORS: readonly PublicKey[];
  SVC_WEBHOOK_REQUESTED_DELIVERIES_PER_MINUTE: number;
}

/** @throws ConfigError where a development wallet is set for another service than a local one */
export async function openConsole(options: {
  config: ConsoleSettings;
  pool: pg.Pool;
  ledger: LedgerContext;
  readiness: () => Promise<Readiness>;
  publicUrl: string;
  shutdown: Shutdown;
  logger: Logger;
  time: Time;
}): Promise<ConsoleServices> {
  const { config, pool, ledger, readiness, publicUrl, shutdown, logger, time } = options;
  const { SVC_CONSOLE_DEVELOPMENT_WALLET_URL: walletUrl } = config;
  const { rpc, commitment, addresses } = ledger;
  await assertDevelopment({ walletUrl, host: config.HOST, publicUrl, rpc });
  const openStreams = await shutdown.open(
    'open streams',
    createOpenStreams({ pool, logger, time }),
  );
  const programId = addresses.programId.toBase58();
  const parts = { database: pool, rpc, programId, readiness };
  await shutdown.open('status history', recordReadiness({ ...parts, logger, time }));
  const listeners = createWebhookListeners({ pool, openStreams, logger, time });
  const { nowMs } = time;
  const secrets = [config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS ?? []].flat();
  return {
    pool,
    sealing: createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS),
    deployment: {
      rpc_url: config.SVC_CONSOLE_RPC_URL ?? null,
      program_id: programId,
      gateway: config.SVC_GATEWAY.toBase58(),
      commitment,
      loopback_allowed: config.SVC_ALLOW_LOOPBACK,
      development_wallet_url: walletUrl ?? null,
    },
    pages: readPages(logger),
    operators: config.SVC_CONSOLE_OPERATORS.map((wallet) => wallet.toBase58()),
    secrets,
    listeners,
    budget: { perMinute: config.SVC_WEBHOOK_REQUESTED_DELIVERIES_PER_MINUTE },
    rpc,
    walletLimit: createLimit({ ...WALLET_LIMIT, nowMs, name: 'wallet' }),
    signIns: createBurstLimit({ ...SIGN_IN_LIMIT, nowMs }),
    nowMs: Date.now,
  };
}

/** @returns undefined where they are not built: the API works without them */
function readPages(logger: Logger): PageFiles | undefined {
  const pages = readPageFiles(PAGES_FOLDER);
  if (!pages) logger.warn({ msg: 'Serves no web app: its pages are not built (npm run build)' });
  return pages;
}
