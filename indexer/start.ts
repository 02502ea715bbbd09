import type pg from 'pg';
import type { Registry } from 'prom-client';
import { createHeliusFee } from '../common/heliusFee.ts';
import type { Logger } from '../common/logger.ts';
import { type Commitment, chooseCommitment } from '../common/net/commitment.ts';
import { assertOwnSessions } from '../common/net/databaseSession.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { chooseVersion } from '../common/net/transactionVersion.ts';
import { hostInUrl, listenAt, websocketUrlOf } from '../common/net/urls.ts';
import { createPool } from '../common/postgres.ts';
import { createSealing } from '../common/sealing.ts';
import type { Shutdown } from '../common/shutdown.ts';
import { awaitDatabase } from '../common/transientErrors.ts';
import { delay, type Time } from '../common/wait.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import { createLedgerClock, createSender } from '../programs/client/sender/index.ts';
import { createPriorityFee } from '../programs/client/sender/priorityFee.ts';
import type { SentVersion } from '../programs/client/sender/transaction.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import { createAbuseWatch, rejectedDisputes, unpaidEndings } from './abuse/abuseWatch.ts';
import { startBackgroundJobs } from './background/jobs.ts';
import type { IndexerConfig } from './config.ts';
import { createIndexer } from './indexer.ts';
import { createKeepers } from './keeper/duties.ts';
import type { Keeper } from './keeper/keeper.ts';
import { createProgress } from './mirror/progress.ts';
import { ANSWER_MS_MAX as RECONCILE_ANSWER_MS_MAX } from './reconcile/readLedger.ts';
import { reconcile } from './reconcile/reconcile.ts';
import {
  createReconcileWatch,
  MIRROR_PATIENCE_MS,
  type ReconcileWatch,
} from './reconcile/reconcileWatch.ts';
import { createStatusServer } from './server.ts';
import type { FatalError } from './source/errors.ts';
import { createHistorySource } from './source/heliusHistory.ts';
import { connectNode } from './source/node.ts';
import { createLedgerSource, type LedgerSource } from './source/source.ts';
import { migrate } from './sql/migrate.ts';
import { createMetrics, type IndexerMetrics } from './telemetry/metrics.ts';
import { TIME_LIMITS, type TimeLimits } from './timeLimits.ts';
import { startWebhooks } from './webhooks/start.ts';

/** A reconciliation reads whole tables. */
const RECONCILE_QUERY_TIMEOUT_MS = 600_000;
const RECONCILE_CONNECTIONS_MAX = 2;

/**
 * Starts one indexer: it waits for the database and migrates it first.
 *
 * @param options.shutdown given every resource as soon as it is open; the caller runs it, also after
 *   a start that failed
 * @param options.limits those that differ from the published ones
 * @param options.time what it waits by for the database at its start
 * @param options.onFatal called with an error that needs a person, after the indexer has ended
 * @returns where it shows its state
 */
export async function startIndexer(options: Options): Promise<{ url: string }> {
  const { config, logger, shutdown, onFatal, time } = options;
  const limits = { ...TIME_LIMITS, ...options.limits };
  await migrateDatabase(options);
  const pool = openPool(options, { queryTimeoutMs: limits.queryMs });
  const rpcUrl = config.SOLANA_RPC_URL;
  const wsUrl = config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl);
  const rpc = connectPooledRpc({ url: rpcUrl });
  const asking = { rpc, logger, ...(time && { time }) };
  const { publicKey: payer } = config.SVC_CRANK_KEY;
  const [commitment, version] = await Promise.all([
    chooseCommitment({ ...asking, chosen: config.SVC_COMMITMENT }),
    chooseVersion({ ...asking, chosen: config.SVC_TRANSACTION_VERSION, payer }),
  ]);
  const progress = createProgress(() => performance.now());
  const metrics = createMetrics(progress);
  const reconcileWatch = createWatch(options, metrics);
  const keepers = createAllKeepers(options, {
    ...{ rpc, wsUrl, commitment, version, pool, metrics, limits },
  });
  await startDatabaseWork(options, { pool, limits, registry: metrics.registry });
  const { source, abort } = createSource(options, metrics.registry);
  const indexer = createIndexer({
    pool,
    wsUrl,
    programId: config.SVC_PROGRAM_ID,
    commitment,
    logger,
    metrics,
    keepers,
    source,
    reconcileWatch,
    progress,
    lagMax: { slots: config.INDEXER_LAG_SLOTS_MAX, ms: config.INDEXER_LAG_MS_MAX },
    outboxSettings: { awaitsFinality: config.SVC_WEBHOOK_COMMITMENT === 'finalized' },
    onFatal,
    limits,
  });
  shutdown.add('indexer', () => {
    const stopped = indexer.stop();
    abort();
    return stopped;
  });

  const server = createStatusServer(indexer, metrics);
  const { address, port } = await listenAt(server, {
    host: config.INDEXER_HOST,
    port: config.INDEXER_PORT,
    settings: { host: 'INDEXER_HOST', port: 'INDEXER_PORT' },
  });
  shutdown.add('status server', () => void server.close());
  indexer.start();
  return { url: `http://${hostInUrl(address)}:${port}` };
}

interface Options {
  readonly config: IndexerConfig;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
  readonly onFatal: (error: FatalError) => void;
  readonly limits?: Partial<TimeLimits>;
  readonly time?: Time;
}

async function migrateDatabase(options: Options): Promise<void> {
  const { logger, time } = options;
  // Without a time limit: making an index may take any time.
  const pool = openPool(options, { max: 2 });
  await awaitDatabase(() => assertOwnSessions(pool), logger, time);
  await awaitDatabase(() => migrate(pool), logger, time);
  await pool.end();
}

function openPool(
  { config, logger, shutdown }: Options,
  bounds: { max?: number; queryTimeoutMs?: number },
): pg.Pool {
  const { DATABASE_URL: databaseUrl } = config;
  const opened = createPool({ databaseUrl, applicationName: 'svc-indexer', ...bounds });
  // The pool replaces an idle connection that breaks. A query on one fails by itself.
  opened.on('error', ({ message }) => {
    logger.warn({ msg: 'Lost an idle connection', reason: message });
  });
  shutdown.add('database', async () => {
    if (!opened.ended) await opened.end();
  });
  return opened;
}

/** The keepers of the program's duties, and the watch over abuse. */
function createAllKeepers(
  { config, logger, shutdown }: Options,
  parts: {
    rpc: Rpc;
    wsUrl: string;
    commitment: Commitment;
    version: SentVersion;
    pool: pg.Pool;
    metrics: IndexerMetrics;
    limits: TimeLimits;
  },
): Keeper[] {
  const { rpc, wsUrl, commitment, version, pool: database, metrics, limits } = parts;
  const { SVC_PROGRAM_ID: programId } = config;
  const nowMs = () => performance.now();
  const clock = createLedgerClock({ rpc });
  shutdown.add('ledger clock', clock.close);
  const addresses = createAddresses(programId);
  const sender = createSender({
    rpc,
    feePayers: [config.SVC_CRANK_KEY],
    commitment,
    version,
    logger,
    wsUrl,
    priorityFee: createPriorityFee({
      rpc,
      estimate: createHeliusFee(config.HELIUS_API_KEY),
      logger,
      writableAccounts: [addresses.treasury, addresses.vault],
      nowMs,
    }),
  });
  shutdown.add('sender', sender.close);
  const shared = { clock, logger, metrics, database };
  const { keepers, close } = createKeepers({ ...shared, programId, sender, nowMs });
  shutdown.add('keepers', close);
  const abuseWatch = createAbuseWatch({
    ...shared,
    intervalMs: limits.abuseIntervalMs,
    limits: [
      { offence: unpaidEndings, offencesMax: config.SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR },
      { offence: rejectedDisputes, offencesMax: config.SVC_ABUSE_REJECTED_DISPUTES_PER_30_DAYS },
    ],
  });
  return [...keepers, abuseWatch];
}

function createWatch(options: Options, metrics: IndexerMetrics): ReconcileWatch {
  const { config, logger } = options;
  const database = openPool(options, {
    max: RECONCILE_CONNECTIONS_MAX,
    queryTimeoutMs: RECONCILE_QUERY_TIMEOUT_MS,
  });
  const node = { url: config.SOLANA_RPC_URL, timeoutMs: RECONCILE_ANSWER_MS_MAX };
  return createReconcileWatch({
    logger,
    metrics,
    random: Math.random,
    wait: delay,
    reconcile: (signal) =>
      reconcile({
        database,
        connection: connectLedger(connectNode(node)),
        addresses: createAddresses(config.SVC_PROGRAM_ID),
        signal,
        patienceMs: MIRROR_PATIENCE_MS,
      }),
    intervalMs: config.SVC_RECONCILE_INTERVAL_SECONDS * 1_000,
  });
}

/** What the database alone decides: expired rows, and deliveries of webhooks. */
async function startDatabaseWork(
  options: Options,
  parts: { pool: pg.Pool; limits: TimeLimits; registry: Registry },
): Promise<void> {
  const { config, logger, shutdown, onFatal, time } = options;
  const { pool, limits, registry } = parts;
  const { DATABASE_URL: databaseUrl } = config;
  const { queryMs: queryTimeoutMs, listenProbeMs } = limits;
  const openJobs = () => startBackgroundJobs({ pool, databaseUrl, queryTimeoutMs, logger });
  const backgroundJobs = await awaitDatabase(openJobs, logger, time);
  shutdown.add('background jobs', backgroundJobs.close);
  const webhooks = await startWebhooks({
    pool,
    time,
    logger,
    onFatal,
    databaseUrl,
    queryTimeoutMs,
    listenProbeMs,
    sealing: createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS),
    allowLoopback: config.SVC_ALLOW_LOOPBACK,
    registry,
  });
  shutdown.add('webhooks', webhooks.stop);
}

/** @returns where the mirror reads from; `abort` ends its reads, which may take any time */
function createSource(
  { config, logger }: Options,
  registry: Registry,
): { source: LedgerSource; abort(): void } {
  const { SOLANA_RPC_URL: url, SVC_PROGRAM_ID: programId } = config;
  const ending = new AbortController();
  const node = connectNode({ url, ending: ending.signal });
  const readsAtOnce = config.INDEXER_READS_AT_ONCE;
  const listed = createLedgerSource({ node, programId, readsAtOnce });
  const history = { source: listed, node, programId: programId.toBase58(), logger, registry };
  const source = config.HELIUS_API_KEY ? createHistorySource(history) : listed;
  return { source, abort: () => ending.abort() };
}
