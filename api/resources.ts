import type pg from 'pg';
import type { Logger } from '../common/logger.ts';
import { createGuardedDispatcher } from '../common/net/addressGuard.ts';
import { chooseCommitment } from '../common/net/commitment.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { chooseVersion } from '../common/net/transactionVersion.ts';
import { createPool } from '../common/postgres.ts';
import type { Shutdown } from '../common/shutdown.ts';
import { createTokenCounts } from '../common/tokenizers/tokenCounts.ts';
import { systemTime, type Time } from '../common/wait.ts';
import { type Addresses, createAddresses } from '../programs/client/addresses.ts';
import type { createSender } from '../programs/client/sender/sender.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import type { ApiConfig } from './config.ts';
import { createFormatCheck, type FormatLimits } from './format/formatCheck.ts';
import { type LedgerContext, openLedger } from './ledger/context.ts';
import { createWorkerClient } from './workers/client.ts';

interface ResourceOptions {
  config: ApiConfig;
  logger: Logger;
  shutdown: Shutdown;
  createSender: typeof createSender;
  /** The name of the process in the database's list of connections. */
  applicationName: string;
  poolConnectionsMax: number;
  /** By default as many; none is opened before it is used. */
  requestConnectionsMax?: number;
  /** Far above any statement of ours: a database that takes longer counts as away. */
  queryTimeoutMs?: number | undefined;
  /** By default those of clients' schemas. */
  formatLimits?: FormatLimits;
  time?: Time;
}

export type Resources = Awaited<ReturnType<typeof openResources>>;

/**
 * Opens what it takes to run jobs as the gateway: the database, the ledger, workers and token counts.
 * Each is closed by `shutdown`.
 */
export async function openResources(options: ResourceOptions) {
  const { config, logger, shutdown, poolConnectionsMax } = options;
  const { requestConnectionsMax = poolConnectionsMax } = options;
  const pool = openPool(options, poolConnectionsMax, false);
  const requestPool = openPool(options, requestConnectionsMax, true);
  const ledger = await connect(options);
  const tokens = await createTokenCounts({ folder: config.SVC_TOKENIZERS_DIR, logger });
  shutdown.add('tokenizers', tokens.close);
  const formats = createFormatCheck({ logger, limits: options.formatLimits });
  shutdown.add('format check', formats.close);
  return {
    pool,
    /**
     * For the statements of every request, which are planned once. Slow ones elsewhere, such as a
     * listing, delay none of them.
     */
    requestPool,
    ledger,
    tokens,
    formats,
    ...connectWorkers(options, ledger.addresses),
  };
}

function openPool(options: ResourceOptions, max: number, plansOnce: boolean): pg.Pool {
  const { config, logger, shutdown, applicationName, queryTimeoutMs = 5_000 } = options;
  const { DATABASE_URL: databaseUrl } = config;
  const pool = createPool({ databaseUrl, applicationName, max, plansOnce, queryTimeoutMs });
  pool.on('error', (error) => {
    logger.warn({ msg: 'Lost an idle database connection', err: error });
  });
  shutdown.add('database', () => pool.end());
  return pool;
}

async function connect(options: ResourceOptions): Promise<LedgerContext> {
  const { config, logger, shutdown, createSender, time = systemTime } = options;
  const ending = new AbortController();
  const rpc = connectPooledRpc({ url: config.SOLANA_RPC_URL, ending: ending.signal });
  shutdown.add('ledger node', () => ending.abort());
  const { publicKey: payer } = config.SVC_SIGNER_KEY;
  const [commitment, version] = await Promise.all([
    chooseCommitment({ chosen: config.SVC_COMMITMENT, rpc, logger, time }),
    chooseVersion({ chosen: config.SVC_TRANSACTION_VERSION, rpc, payer, logger, time }),
  ]);
  const connection = connectLedger(rpc, commitment);
  const addresses = createAddresses(config.SVC_PROGRAM_ID);
  const reading = { commitment, version, connection, rpc, addresses };
  const { context, close } = openLedger({ ...reading, config, logger, createSender, time });
  shutdown.add('ledger', close);
  shutdown.add('late locks', context.lateLocks.drain);
  return context;
}

const WORKER_CONNECT_TIMEOUT_MS = 5_000;

function connectWorkers({ config, shutdown }: ResourceOptions, { programId }: Addresses) {
  const { SVC_ALLOW_LOOPBACK: allowLoopback } = config;
  const connectTimeoutMs = WORKER_CONNECT_TIMEOUT_MS;
  const dispatcher = createGuardedDispatcher({ allowLoopback, connectTimeoutMs });
  shutdown.add('worker connections', () => dispatcher.destroy());
  const workers = createWorkerClient({
    signer: config.SVC_SIGNER_KEY,
    programId,
    dispatcher,
    allowLoopback,
    allowBuiltin: config.SVC_ALLOW_BUILTIN_WORKERS,
    nowMs: Date.now,
  });
  return {
    workers,
    /** How workers are asked for their health, and by which guard they are reached. */
    probing: {
      dispatcher,
      gateway: config.SVC_GATEWAY.toBase58(),
      allowLoopback,
      allowBuiltin: config.SVC_ALLOW_BUILTIN_WORKERS,
    },
  };
}
