import type pg from 'pg';
import { createHeliusFee } from '../common/heliusFee.ts';
import type { Logger } from '../common/logger.ts';
import { chooseCommitment } from '../common/net/commitment.ts';
import { assertOwnSessions } from '../common/net/databaseSession.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { hostInUrl, listenAt, websocketUrlOf } from '../common/net/urls.ts';
import { createPool } from '../common/postgres.ts';
import { createSealing } from '../common/sealing.ts';
import type { Shutdown } from '../common/shutdown.ts';
import { awaitDatabase } from '../common/transientErrors.ts';
import { delay, type Time } from '../common/wait.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import { createLedgerClock, createSender } from '../programs/client/sender/index.ts';
import { createPriorityFee } from '../programs/client/sender/priorityFee.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import { createAbuseWatch, rejectedDisputes, unpaidEndings } from './abuse/abuseWatch.ts';
import { startBackgroundJobs } from './background/jobs.ts';
import type { IndexerConfig } from './config.ts';
import { createIndexer } from './indexer.ts';
import { createKeepers } from './keeper/duties.ts';
import { createProgress } from './mirror/progress.ts';
import { ANSWER_MS_MAX as RECONCILE_ANSWER_MS_MAX } from './reconcile/readLedger.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { createReconcileWatch, MIRROR_PATIENCE_MS } from './reconcile/reconcileWatch.ts';
import { createStatusServer } from './server.ts';
import type { FatalError } from './source/errors.ts';
import { createHistorySource } from './source/heliusHistory.ts';
import { connectNode } from './source/node.ts';
import { createLedgerSource } from './source/source.ts';
import { migrate } from './sql/migrate.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { TIME_LIMITS, type TimeLimits } from './timeLimits.ts';
import { startWebhooks } from './webhooks/start.ts';

/** A reconciliation reads whole tables. */
const RECONCILE_QUERY_TIMEOUT_MS = 600_000;
const RECONCILE_CONNECTIONS_MAX = 2;

/**
 * Wires one indexer together and starts it: it waits for the database and migrates it first.
 *
 * @param options.shutdown given every resource as soon as it is open; whoever starts an indexer runs
 *   it, also after a start that failed
 * @param options.limits those that differ from the published ones
 * @param options.time what it waits by for the database at its start
 * @param options.onFatal told of an error that needs a person; the indexer stands still then
 * @returns where it shows its state
 */
export async function startIndexer(options: {
  config: IndexerConfig;
  logger: Logger;
  shutdown: Shutdown;
  onFatal: (error: FatalError) => void;
  limits?: Partial<TimeLimits>;
  time?: Time;
}): Promise<{ url: string }> {
  const { config, logger, shutdown, onFatal, time } = options;
  const limits = { ...TIME_LIMITS, ...options.limits };
  const { SVC_PROGRAM_ID: programId } = config;

  function openPool(bounds: { max?: number; queryTimeoutMs?: number }): pg.Pool {
    const { DATABASE_URL: databaseUrl } = config;
    const opened = createPool({ databaseUrl, applicationName: 'svc-indexer', ...bounds });
    // An idle connection that breaks is replaced; whoever uses one learns of it by its own query.
    opened.on('error', ({ message }) => {
      logger.warn({ msg: 'Lost an idle connection', reason: message });
    });
    shutdown.add('database', async () => {
      if (!opened.ended) await opened.end();
    });
    return opened;
  }

  // Making an index may take any time.
  const migrating = openPool({ max: 2 });
  await awaitDatabase(() => assertOwnSessions(migrating), logger, time);
  await awaitDatabase(() => migrate(migrating), logger, time);
  await migrating.end();
  const pool = openPool({ queryTimeoutMs: limits.queryMs });
  const reconcilePool = openPool({
    max: RECONCILE_CONNECTIONS_MAX,
    queryTimeoutMs: RECONCILE_QUERY_TIMEOUT_MS,
  });

  const rpcUrl = config.SOLANA_RPC_URL;
  const wsUrl = config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl);
  const rpc = connectPooledRpc({ url: rpcUrl });
  const chosen = config.SVC_COMMITMENT;
  const commitment = await chooseCommitment({ chosen, rpc, logger, ...(time && { time }) });
  const clock = createLedgerClock({ rpc });
  shutdown.add('ledger clock', clock.close);
  const addresses = createAddresses(programId);
  const sender = createSender({
    rpc,
    feePayers: [config.SVC_CRANK_KEY],
    commitment,
    logger,
    wsUrl,
    priorityFee: createPriorityFee({
      rpc,
      estimate: createHeliusFee(config.HELIUS_API_KEY),
      logger,
      writableAccounts: [addresses.treasury, addresses.vault],
      nowMs: () => performance.now(),
    }),
  });
  shutdown.add('sender', sender.close);

  const progress = createProgress(() => performance.now());
  const metrics = createMetrics(progress);
  const { keepers, close } = createKeepers({
    programId,
    sender,
    clock,
    logger,
    metrics,
    database: pool,
    nowMs: () => performance.now(),
  });
  shutdown.add('keepers', close);
  const abuseWatch = createAbuseWatch({
    clock,
    logger,
    metrics,
    database: pool,
    intervalMs: limits.abuseIntervalMs,
    limits: [
      { offence: unpaidEndings, offencesMax: config.SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR },
      { offence: rejectedDisputes, offencesMax: config.SVC_ABUSE_REJECTED_DISPUTES_PER_30_DAYS },
    ],
  });

  const reconcileWatch = createReconcileWatch({
    logger,
    metrics,
    random: Math.random,
    wait: delay,
    reconcile: (signal) =>
      reconcile({
        database: reconcilePool,
        connection: connectLedger(connectNode({ url: rpcUrl, timeoutMs: RECONCILE_ANSWER_MS_MAX })),
        addresses,
        signal,
        patienceMs: MIRROR_PATIENCE_MS,
      }),
    intervalMs: config.SVC_RECONCILE_INTERVAL_SECONDS * 1_000,
  });
  const openJobs = () =>
    startBackgroundJobs({
      pool,
      databaseUrl: config.DATABASE_URL,
      queryTimeoutMs: limits.queryMs,
      logger,
    });
  const backgroundJobs = await awaitDatabase(openJobs, logger, time);
  shutdown.add('background jobs', backgroundJobs.close);
  const webhooks = await startWebhooks({
    pool,
    time,
    logger,
    onFatal,
    databaseUrl: config.DATABASE_URL,
    queryTimeoutMs: limits.queryMs,
    listenProbeMs: limits.listenProbeMs,
    sealing: createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS),
    allowLoopback: config.SVC_ALLOW_LOOPBACK,
    registry: metrics.registry,
  });
  shutdown.add('webhooks', webhooks.stop);

  // A node that is silent, or a long history, must not use up the time for ending.
  const ending = new AbortController();
  const node = connectNode({ url: rpcUrl, ending: ending.signal });
  const source = createLedgerSource({
    node,
    programId,
    readsAtOnce: config.INDEXER_READS_AT_ONCE,
  });
  const history = { source, node, programId: programId.toBase58(), logger };

  const indexer = createIndexer({
    pool,
    wsUrl,
    programId,
    commitment,
    logger,
    metrics,
    keepers: [...keepers, abuseWatch],
    source: config.HELIUS_API_KEY
      ? createHistorySource({ ...history, registry: metrics.registry })
      : source,
    reconcileWatch,
    progress,
    lagMax: { slots: config.INDEXER_LAG_SLOTS_MAX, ms: config.INDEXER_LAG_MS_MAX },
    outboxSettings: { awaitsFinality: config.SVC_WEBHOOK_COMMITMENT === 'finalized' },
    onFatal,
    limits,
  });
  shutdown.add('indexer', () => {
    const stopped = indexer.stop();
    ending.abort();
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
