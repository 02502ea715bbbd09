import { fileURLToPath } from 'node:url';
import { ConfigError } from '../common/config.ts';
import { createWriteBuffer } from '../common/database/batched.ts';
import { createLogger, type Logger } from '../common/logger.ts';
import { resolveName } from '../common/net/addressGuard.ts';
import { assertOwnSessions } from '../common/net/databaseSession.ts';
import { serveMetrics } from '../common/net/serveMetrics.ts';
import { createSealing } from '../common/sealing.ts';
import { createShutdown, type Shutdown } from '../common/shutdown.ts';
import { awaitDatabase } from '../common/transientErrors.ts';
import { delay, systemTime, type Time, within } from '../common/wait.ts';
import { toBase58 } from '../programs/client/keys.ts';
import { formatReceipt, receiptMessage, signBy } from '../programs/client/proof.ts';
import type { LedgerClock } from '../programs/client/sender/ledgerClock.ts';
import { createSender } from '../programs/client/sender/sender.ts';
import { createWebhooks } from './account/webhooks.ts';
import { createApp } from './app.ts';
import type { ApiConfig } from './config.ts';
import { assertDevelopment } from './console/developmentWallet.ts';
import { type PageFiles, readPageFiles } from './console/pages/files.ts';
import { createChangeStreams } from './console/stream/changes.ts';
import { createOpenStreams } from './console/stream/openStreams.ts';
import { createWebhookListeners } from './console/stream/webhookListeners.ts';
import { createLargeBodies } from './http/largeBodies/largeBodies.ts';
import { createKeyAdmission } from './http/middleware/authentication.ts';
import { createBurstLimit, createLimit } from './http/middleware/burstLimit.ts';
import { createReadiness } from './http/routes/readiness.ts';
import { listen, serve } from './http/server.ts';
import { createCatalog } from './jobs/catalog.ts';
import { createCompletions } from './jobs/completion.ts';
import { createDisputes } from './jobs/dispute.ts';
import { createIdempotency } from './jobs/idempotency.ts';
import { createJobWatch } from './jobs/jobWatch.ts';
import { createRequestIdentification } from './jobs/requestIdentity.ts';
import { reachLedger, readFaults } from './ledger/context.ts';
import { createDisputeOnLedger } from './ledger/disputeOnLedger.ts';
import { createEscrow, observeEscrow } from './ledger/escrow.ts';
import { createOrphanEnd, createStatusLookup, createUnmirroredJobs } from './ledger/jobLookup.ts';
import { openResources } from './resources.ts';
import { insertTimings, type JobTiming, selectJob } from './sql/jobs.ts';
import { assertMigrated, assertRights } from './sql/schema.ts';
import { insertSightings, type WorkerSighting } from './sql/workerHours.ts';
import { observeFeePayers, observeState } from './telemetry/gauges.ts';
import { type ApiMetrics, createMetrics } from './telemetry/metrics.ts';
import { createTracing } from './telemetry/tracing.ts';
import { createObservationLog, createWorkerDirectory } from './workers/directory.ts';
import { createHealthProbe } from './workers/health.ts';

/** Where a build puts the pages of the web app. */
const PAGES_FOLDER = fileURLToPath(new URL('../console/dist/', import.meta.url));
/** Where it puts the packages. */
const PACKAGES_FOLDER = fileURLToPath(new URL('../dist/packages/tarballs/', import.meta.url));
/** How long a start waits for the node: it is there, or may be away for long. */
const LEDGER_WAIT_MS = 6_000;
const POOL_CONNECTIONS_MAX = 12;
/** Each kind of statement that requests share needs two, and one listens. */
const REQUEST_CONNECTIONS_MAX = 8;

/** Requests of one wallet to the web app's API: far more than one person's pages make. */
const WALLET_LIMIT = { burst: 300, refillPerSecond: 30 };

/** Sign-ins of one address. Each leaves a session for 12 hours, and wallets cost nothing to make. */
const SIGN_IN_LIMIT = { burst: 300, refillPerSecond: 0.1 };

/** A running API process. */
interface RunningApi {
  url: string;
  metricsUrl: string | undefined;
  /** The ledger's time, as this process has it. */
  clock: LedgerClock;
  shutdown: Shutdown;
}

/**
 * Wires one API process together and listens.
 *
 * @param parts.createSender what sends its transactions: a benchmark measures the API without one
 * @param parts.logger by default one for the process's standard error
 * @param parts.time what it waits by: a test moves it on
 * @param parts.queryTimeoutMs after so long a silent database counts as away
 */
export async function startApi(
  config: ApiConfig,
  parts: {
    createSender?: typeof createSender;
    logger?: Logger;
    time?: Time;
    queryTimeoutMs?: number;
  } = {},
): Promise<RunningApi> {
  const { logger = createLogger({ name: 'api', level: config.LOG_LEVEL }) } = parts;
  const shutdown = createShutdown({
    logger,
    timeoutMs: config.SVC_DRAIN_DELAY_MS + config.SVC_SHUTDOWN_TIMEOUT_MS,
  });
  const { time = systemTime, queryTimeoutMs } = parts;
  const { nowMs } = time;
  const allowLoopback = config.SVC_ALLOW_LOOPBACK;

  const tracing = await createTracing({
    collectorUrl: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    logger,
  });
  shutdown.add('traces', tracing.close);

  const metrics = createMetrics();
  const resources = await openResources({
    config,
    logger,
    shutdown,
    applicationName: 'svc-api',
    poolConnectionsMax: POOL_CONNECTIONS_MAX,
    requestConnectionsMax: REQUEST_CONNECTIONS_MAX,
    ...(queryTimeoutMs && { queryTimeoutMs }),
    time,
    createSender: (options) =>
      (parts.createSender ?? createSender)({ ...options, observe: metrics.observeSend }),
  });
  const { pool, requestPool, rpc, addresses, ledger, dispatcher, workers, tokens } = resources;
  // What the mirror tells is served without the ledger; a request that needs it is refused till then.
  const faults = await within(LEDGER_WAIT_MS, reachLedger(ledger), time);
  const wrong = faults?.find(({ isMisconfigured }) => isMisconfigured);
  if (wrong) throw new ConfigError(`${wrong.message}.`);
  const { escrow, observeLock } = observeEscrow(createEscrow(ledger), metrics);
  const { clock } = ledger;

  const catalog = createCatalog({ database: pool, logger, time });
  await awaitDatabase(() => assertOwnSessions(pool), logger, time);
  await awaitDatabase(() => assertMigrated(pool), logger, time);
  await awaitDatabase(() => assertRights(pool), logger, time);
  await awaitDatabase(catalog.start, logger, time);
  shutdown.add('catalog', catalog.close);
  const watch = createJobWatch({ pool: requestPool, logger, time });
  await watch.start();
  shutdown.add('job watch', watch.close);

  const allowBuiltin = config.SVC_ALLOW_BUILTIN_WORKERS;
  const gateway = config.SVC_GATEWAY.toBase58();
  const probe = createHealthProbe({ dispatcher, gateway, allowLoopback, allowBuiltin });
  const sightings = createWriteBuffer<WorkerSighting>({
    write: (seen) => insertSightings(pool, seen),
    what: 'hours of workers',
    logger,
  });
  shutdown.add('hours of workers', sightings.close);
  const modelIdAt = (address: string) =>
    catalog.list().find((model) => model.address === address)?.id ?? address;
  const directory = createWorkerDirectory({
    database: pool,
    logger,
    probe,
    time,
    observer: {
      probed: (worker, isAnswered) => sightings.add({ worker, kind: 'probe', isAnswered }),
      failed: (worker, address) =>
        sightings.add({ worker, kind: 'failure', modelId: modelIdAt(address) }),
    },
  });
  await awaitDatabase(directory.start, logger, time);
  shutdown.add('worker directory', directory.close);
  observeState(metrics.registry, { clock, directory });
  const balances = observeFeePayers(metrics.registry, { rpc, feePayers: ledger.feePayers });
  shutdown.add('fee payer balances', balances.close);

  const signer = config.SVC_SIGNER_KEY;
  const { programId } = addresses;
  const { server, url, drain, close } = await listen(config);
  let isDraining = false;
  const publicUrl = config.PUBLIC_URL ?? url;
  await assertDevelopment({
    walletUrl: config.SVC_CONSOLE_DEVELOPMENT_WALLET_URL,
    host: config.HOST,
    publicUrl,
    rpc,
  });
  const findJob = (key: { wallet: string; jobId: string }) => selectJob(pool, key);
  const idempotency = createIdempotency({
    database: requestPool,
    findStatus: createStatusLookup({ database: pool, context: ledger }),
    failOrphan: createOrphanEnd(ledger),
    nowMs: clock.nowMs,
    logger,
  });
  shutdown.add('leases', idempotency.close);
  const observations = createObservationLog({ database: pool, logger });
  shutdown.add('observations', observations.close);
  const timings = createWriteBuffer<JobTiming>({
    write: (written) => insertTimings(pool, written),
    what: 'timings of jobs',
    logger,
  });
  shutdown.add('timings', timings.close);
  const keys = createKeyAdmission(requestPool);
  const completions = createCompletions({
    idempotency,
    findJob,
    catalog,
    directory,
    escrow,
    tokens,
    watch,
    clock,
    time,
    logger,
    programId,
    publicUrl,
    nowSeconds: clock.nowSeconds,
    workers,
    observeLock,
    observeStage: (name, durationMs) => metrics.stage(name, durationMs / 1_000),
    observeJob: ({ job, wallet, durationsMs }) =>
      timings.add({
        job: toBase58(job.address),
        wallet,
        modelId: job.model.id,
        lockMs: durationsMs.lock,
        firstTokenMs: durationsMs.first_token,
        workerMs: durationsMs.worker,
        settlementMs: durationsMs.settle,
      }),
    observeFirstToken: (observation) => {
      metrics.stage('first_token', observation.firstTokenMs / 1_000);
      observations.add(observation);
      const { worker, modelId, firstTokenMs: ms } = observation;
      sightings.add({ worker, kind: 'first_token', modelId, ms });
    },
    signReceipt: async (job, outputHash) => {
      const message = receiptMessage({ programId, job: job.address, outputHash });
      return formatReceipt(signer.publicKey, await signBy(message, signer));
    },
  });

  const unmirrored = createUnmirroredJobs(ledger, catalog.list);
  const disputes = createDisputes({
    database: pool,
    unmirrored,
    watch,
    ledger: createDisputeOnLedger(ledger),
  });
  const openStreams = createOpenStreams({ pool, logger, time });
  await openStreams.start();
  shutdown.add('open streams', openStreams.close);
  const streams = createChangeStreams({
    database: pool,
    openStreams,
    watch,
    logger,
    nowSeconds: clock.nowSeconds,
    time,
  });
  const listeners = createWebhookListeners({ pool, openStreams, logger, time });
  const largeBodies = createLargeBodies({ logger });
  shutdown.add('large bodies', largeBodies.close);
  const app = createApp({
    largeBodies,
    database: pool,
    logger,
    catalog,
    directory,
    completions,
    keys,
    identify: createRequestIdentification(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS),
    publicUrl,
    packagesFolder: PACKAGES_FOLDER,
    bindsSubdomains: config.SVC_HSTS_SUBDOMAINS,
    nowSeconds: clock.nowSeconds,
    unmirrored,
    disputes,
    metrics,
    tracer: tracing.tracer,
    readiness: createReadiness({
      database: pool,
      clock,
      directory,
      catalog,
      time,
      readFaults: () => readFaults(ledger),
      isDraining: () => isDraining,
    }),
    isDraining: () => isDraining,
    webhooks: createWebhooks({
      pool,
      allowLoopback,
      resolve: resolveName,
      sealing: createSealing(config.SVC_SECRETS_KEY),
    }),
    bursts: createBurstLimit({
      burst: config.SVC_BURST_REQUESTS,
      refillPerSecond: config.SVC_BURST_REFILL_PER_SECOND,
      nowMs,
    }),
    refusals: createBurstLimit({
      burst: config.SVC_BURST_REFUSED_KEYS,
      refillPerSecond: config.SVC_BURST_REFUSED_KEYS_REFILL_PER_SECOND,
      nowMs,
    }),
    console: {
      pool,
      sealing: createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS),
      deployment: {
        rpc_url: config.SVC_CONSOLE_RPC_URL ?? null,
        program_id: programId.toBase58(),
        gateway,
        commitment: ledger.commitment,
        loopback_allowed: allowLoopback,
        development_wallet_url: config.SVC_CONSOLE_DEVELOPMENT_WALLET_URL ?? null,
      },
      pages: readPages(logger),
      operators: config.SVC_CONSOLE_OPERATORS.map((wallet) => wallet.toBase58()),
      secrets: [config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS ?? []].flat(),
      streams,
      listeners,
      budget: { perMinute: config.SVC_WEBHOOK_REQUESTED_DELIVERIES_PER_MINUTE },
      rpc,
      walletLimit: createLimit({ ...WALLET_LIMIT, nowMs, name: 'wallet' }),
      signIns: createBurstLimit({ ...SIGN_IN_LIMIT, nowMs }),
      nowMs: Date.now,
    },
    gateway,
    corsOrigins: config.SVC_CORS_ORIGINS,
    trustedProxyHops: config.SVC_TRUSTED_PROXY_HOPS,
  });
  const metricsUrl = await publishMetrics(config, metrics, shutdown);
  serve(server, app, publicUrl);
  shutdown.add('jobs under way', completions.drain);
  shutdown.add('server', close);
  shutdown.add('streams of the web app', async () => streams.close());
  shutdown.add('listeners to events', async () => listeners.close());
  // Balancers notice by the next health check that no more requests should come here.
  shutdown.add('drain delay', async () => {
    isDraining = true;
    drain();
    await delay(config.SVC_DRAIN_DELAY_MS);
  });
  logger.info({ msg: 'Listened', url, metrics_url: metricsUrl });
  return { url, metricsUrl, clock, shutdown };
}

/** @returns undefined where nobody has built them: the API is whole without */
function readPages(logger: Logger): PageFiles | undefined {
  const pages = readPageFiles(PAGES_FOLDER);
  if (!pages) logger.warn({ msg: 'Serves no web app: its pages are not built (npm run build)' });
  return pages;
}

/** Only where the operator has asked for it. @returns where metrics are served */
async function publishMetrics(
  { METRICS_HOST: host, METRICS_PORT: port }: ApiConfig,
  metrics: ApiMetrics,
  shutdown: Shutdown,
): Promise<string | undefined> {
  if (port === undefined) return undefined;
  const settings = { host: 'METRICS_HOST', port: 'METRICS_PORT' };
  const served = await serveMetrics({ registry: metrics.registry, host, port, settings });
  shutdown.add('metrics', served.close);
  return served.url;
}
