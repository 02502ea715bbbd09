import type pg from 'pg';
import type { Dispatcher } from 'undici';
import type { Logger } from '../common/logger.ts';
import { createGuardedDispatcher } from '../common/net/addressGuard.ts';
import { chooseCommitment } from '../common/net/commitment.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { createPool } from '../common/postgres.ts';
import type { Shutdown } from '../common/shutdown.ts';
import { createTokenCounts, type TokenCounts } from '../common/tokenizers/tokenCounts.ts';
import { systemTime, type Time } from '../common/wait.ts';
import { type Addresses, createAddresses } from '../programs/client/addresses.ts';
import type { LedgerConnection } from '../programs/client/ledgerConnection.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import type { createSender } from '../programs/client/sender/sender.ts';
import { connectLedger as connectReader } from '../programs/client/verify/connection/connectLedger.ts';
import type { ApiConfig } from './config.ts';
import { type LedgerContext, openLedger } from './ledger/context.ts';
import { createWorkerClient, type WorkerClient } from './workers/client.ts';

/** What it takes to run jobs as the gateway: the database, the ledger, workers and token counts. */
interface Resources {
  pool: pg.Pool;
  /**
   * For the statements that every request makes, which are planned once. What takes long elsewhere,
   * such as a listing, holds up none of them.
   */
  requestPool: pg.Pool;
  connection: LedgerConnection;
  rpc: Rpc;
  addresses: Addresses;
  ledger: LedgerContext;
  /** Reaches workers, and nothing that the address guard refuses. */
  dispatcher: Dispatcher;
  workers: WorkerClient;
  tokens: TokenCounts;
}

const WORKER_CONNECT_TIMEOUT_MS = 5_000;

/** Opens them, each to be closed by `shutdown`. */
export async function openResources(options: {
  config: ApiConfig;
  logger: Logger;
  shutdown: Shutdown;
  createSender: typeof createSender;
  /** How the database names its connections. */
  applicationName: string;
  poolConnectionsMax: number;
  /** By default as many; none is opened before it is used. */
  requestConnectionsMax?: number;
  /** Far above any statement of ours: a database that takes longer counts as away. */
  queryTimeoutMs?: number;
  time?: Time;
}): Promise<Resources> {
  const { config, logger, shutdown, applicationName, poolConnectionsMax } = options;
  const { requestConnectionsMax = poolConnectionsMax, queryTimeoutMs = 5_000 } = options;
  const openPool = (max: number, plansOnce: boolean): pg.Pool => {
    const opened = createPool({
      databaseUrl: config.DATABASE_URL,
      applicationName,
      max,
      plansOnce,
      queryTimeoutMs,
    });
    opened.on('error', (error) => {
      logger.warn({ msg: 'Lost an idle database connection', err: error });
    });
    shutdown.add('database', () => opened.end());
    return opened;
  };
  const pool = openPool(poolConnectionsMax, false);
  const requestPool = openPool(requestConnectionsMax, true);

  const ending = new AbortController();
  const rpc = connectPooledRpc({ url: config.SOLANA_RPC_URL, ending: ending.signal });
  shutdown.add('ledger node', () => ending.abort());
  const { time = systemTime } = options;
  const chosen = config.SVC_COMMITMENT;
  const commitment = await chooseCommitment({ chosen, rpc, logger, time });
  const connection = connectReader(rpc, commitment);
  const addresses = createAddresses(config.SVC_PROGRAM_ID);
  const ledger = openLedger({
    config,
    commitment,
    connection,
    rpc,
    addresses,
    logger,
    createSender: options.createSender,
    time,
  });
  shutdown.add('ledger', ledger.close);
  shutdown.add('late locks', ledger.context.lateLocks.drain);

  const allowLoopback = config.SVC_ALLOW_LOOPBACK;
  const dispatcher = createGuardedDispatcher({
    allowLoopback,
    connectTimeoutMs: WORKER_CONNECT_TIMEOUT_MS,
  });
  shutdown.add('worker connections', () => dispatcher.destroy());
  const workers = createWorkerClient({
    signer: config.SVC_SIGNER_KEY,
    programId: addresses.programId,
    dispatcher,
    allowLoopback,
    allowBuiltin: config.SVC_ALLOW_BUILTIN_WORKERS,
    nowMs: Date.now,
  });

  const tokens = await createTokenCounts({ folder: config.SVC_TOKENIZERS_DIR, logger });
  shutdown.add('tokenizers', tokens.close);
  return {
    pool,
    requestPool,
    connection,
    rpc,
    addresses,
    dispatcher,
    workers,
    tokens,
    ledger: ledger.context,
  };
}
