import { fileURLToPath } from 'node:url';
import { ConfigError } from '../common/config.ts';
import { createLogger, type Logger } from '../common/logger.ts';
import { resolveName } from '../common/net/addressGuard.ts';
import { assertOwnSessions } from '../common/net/databaseSession.ts';
import { serveMetrics } from '../common/net/serveMetrics.ts';
import { createSealing } from '../common/sealing.ts';
import { closingOnFailure, createShutdown, type Shutdown } from '../common/shutdown.ts';
import { awaitDatabase } from '../common/transientErrors.ts';
import { delay, systemTime, type Time, within } from '../common/wait.ts';
import { createSender } from '../programs/client/sender/sender.ts';
import { createWebhooks } from './account/webhooks.ts';
import { type AppServices, createApp } from './app.ts';
import type { ApiConfig } from './config.ts';
import { openConsole } from './console/openConsole.ts';
import { createLargeBodies } from './http/largeBodies/largeBodies.ts';
import { createBurstLimit, createKeyAdmission } from './http/middleware/authentication.ts';
import { listen, serve } from './http/server.ts';
import { type Catalog, createCatalog } from './jobs/catalog.ts';
import { createJobWatch } from './jobs/jobWatch.ts';
import { type LedgerContext, reachLedger, readFaults } from './ledger/context.ts';
import { readModelCards } from './models/cards.ts';
import { openJobs } from './openJobs.ts';
import { openResources, type Resources } from './resources.ts';
import { createRequestIdentification } from './routes/completions.ts';
import { assertMigrated, assertRights, openRequestSecret } from './sql/schema.ts';
import { createReadiness } from './status/readiness.ts';
import { observeFeePayers, observeState } from './telemetry/gauges.ts';
import { type ApiMetrics, createMetrics } from './telemetry/metrics.ts';
import { createTracing } from './telemetry/tracing.ts';
import { openWorkers } from './workers/directory.ts';

interface Opening {
  config: ApiConfig;
  logger: Logger;
  time: Time;
  shutdown: Shutdown;
}

/**
 * Opens the parts of one API process and listens. When one fails to open, those before it are closed.
 *
 * @param parts.createSender what sends its transactions: a benchmark measures the API without one
 * @param parts.logger by default one for the process's standard error
 * @param parts.time what it waits by: a test moves it on
 * @param parts.queryTimeoutMs after so long a silent database counts as away
 */
export function startApi(
  config: ApiConfig,
  parts: {
    createSender?: typeof createSender;
    logger?: Logger;
    time?: Time;
    queryTimeoutMs?: number;
  } = {},
): ReturnType<typeof openApi> {
  const { logger = createLogger({ name: 'api', level: config.LOG_LEVEL }) } = parts;
  const timeoutMs = config.SVC_DRAIN_DELAY_MS + config.SVC_SHUTDOWN_TIMEOUT_MS;
  const shutdown = createShutdown({ logger, timeoutMs });
  const { time = systemTime } = parts;
  const opening = { config, logger, time, shutdown };
  return closingOnFailure(shutdown, () => openApi(opening, parts));
}

const POOL_CONNECTIONS_MAX = 12;
/** Each kind of statement that requests share needs two, and one listens. */
const REQUEST_CONNECTIONS_MAX = 8;

async function openApi(
  opening: Opening,
  parts: { createSender?: typeof createSender; queryTimeoutMs?: number },
) {
  const { config, logger, shutdown } = opening;
  const tracing = await shutdown.open('traces', await openTracing(opening));
  const metrics = createMetrics();
  const resources = await openResources({
    ...opening,
    applicationName: 'svc-api',
    poolConnectionsMax: POOL_CONNECTIONS_MAX,
    requestConnectionsMax: REQUEST_CONNECTIONS_MAX,
    queryTimeoutMs: parts.queryTimeoutMs,
    createSender: (options) =>
      (parts.createSender ?? createSender)({ ...options, observe: metrics.observeSend }),
  });
  const { pool, requestPool, probing, ledger } = resources;
  await assertConfigured(ledger);
  const catalog = await openCatalog(opening, resources);
  const sealing = createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS);
  const openSecret = () => openRequestSecret(pool, sealing);
  const requestSecret = await awaitDatabase(openSecret, logger, opening.time);
  const models = catalog.list();
  const cards = readModelCards({ folder: config.SVC_MODEL_CARDS_DIR, models, logger });
  const watch = createJobWatch({ ...opening, pool: requestPool });
  await shutdown.open('job watch', watch);
  const { directory, recordFirstToken } = await openWorkers({
    ...opening,
    pool,
    listModels: catalog.list,
    probing,
  });
  const port = await shutdown.open('port', await listen(config));
  const publicUrl = config.PUBLIC_URL ?? port.url;
  const shared = { ...opening, pool, ledger, catalog, watch, directory, publicUrl };
  const { SVC_SIGNER_KEY: signer } = config;
  const jobs = await openJobs({ ...shared, resources, recordFirstToken, metrics, signer });
  const draining = new AbortController();
  const services = requestServices({ ...shared, isDraining: () => draining.signal.aborted });
  const console = await openConsole({ ...shared, readiness: services.readiness });
  const { nowSeconds } = ledger.clock;
  const largeBodies = createLargeBodies({ database: pool, catalog, nowSeconds });
  const app = createApp({
    ...services,
    ...jobs,
    catalog,
    directory,
    cards,
    preview: config.SVC_PREVIEW,
    publicUrl,
    identify: createRequestIdentification(requestSecret),
    console,
    keys: createKeyAdmission(requestPool),
    largeBodies,
    metrics,
    tracer: tracing.tracer,
  });
  const metricsUrl = await publishMetrics(opening, { metrics, ledger, directory });
  serve(port.server, app, publicUrl);
  // Closed in reverse order: the streams, which the server would wait for, then the last responses, then the jobs behind them.
  shutdown.add('running jobs', jobs.completions.drain);
  shutdown.add('server', port.close);
  shutdown.add('streams of listeners', console.listeners.close);
  // Before that, so that balancers notice by the next health check and send no more requests.
  shutdown.add('drain delay', async () => {
    draining.abort();
    port.drain();
    await delay(config.SVC_DRAIN_DELAY_MS);
  });
  logger.info({ msg: 'Listened', url: port.url, metrics_url: metricsUrl });
  return {
    url: port.url,
    metricsUrl,
    /** The ledger's time, as this process has it. */
    clock: ledger.clock,
    shutdown,
  };
}

function openTracing({ config, logger }: Opening): ReturnType<typeof createTracing> {
  return createTracing({
    collectorUrl: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    logger,
  });
}

/** How long a start waits for the node: it is there, or may be away for long. */
const LEDGER_WAIT_MS = 6_000;

/**
 * While the node is away, the API serves what the mirror has.
 *
 * @throws ConfigError where it can lock only with other settings
 */
async function assertConfigured(ledger: LedgerContext): Promise<void> {
  const faults = await within(LEDGER_WAIT_MS, reachLedger(ledger), ledger.time);
  const wrong = faults?.find(({ isMisconfigured }) => isMisconfigured);
  if (wrong) throw new ConfigError(`${wrong.message}.`);
}

/** Waits for a database with the tables and rights that this release needs. */
async function openCatalog(
  { logger, time, shutdown }: Opening,
  { pool }: Resources,
): Promise<Catalog> {
  for (const assert of [assertOwnSessions, assertMigrated, assertRights]) {
    await awaitDatabase(() => assert(pool), logger, time);
  }
  const catalog = createCatalog({ database: pool, logger, time });
  shutdown.add('catalog', catalog.close);
  await awaitDatabase(catalog.start, logger, time);
  return catalog;
}

/** Where a build puts the packages. */
const PACKAGES_FOLDER = fileURLToPath(new URL('../dist/packages/tarballs/', import.meta.url));

/** What the app needs for requests of every kind. */
function requestServices(
  options: Opening &
    Pick<Resources, 'pool' | 'ledger'> &
    Pick<AppServices, 'directory' | 'catalog' | 'isDraining'>,
) {
  const { config, logger, time, pool, ledger, directory, catalog, isDraining } = options;
  const { clock } = ledger;
  const { nowMs } = time;
  return {
    database: pool,
    logger,
    packagesFolder: PACKAGES_FOLDER,
    packagesBuildId: config.SVC_PACKAGES_BUILD_PID,
    bindsSubdomains: config.SVC_HSTS_SUBDOMAINS,
    addresses: ledger.addresses,
    gateway: config.SVC_GATEWAY.toBase58(),
    corsOrigins: config.SVC_CORS_ORIGINS,
    trustedProxyHops: config.SVC_TRUSTED_PROXY_HOPS,
    nowSeconds: clock.nowSeconds,
    isDraining,
    readiness: createReadiness({
      database: pool,
      clock,
      directory,
      catalog,
      time,
      readFaults: () => readFaults(ledger),
      isDraining,
    }),
    webhooks: createWebhooks({
      pool,
      allowLoopback: config.SVC_ALLOW_LOOPBACK,
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
  };
}

/** Serves metrics where the operator has asked for it. @returns where */
async function publishMetrics(
  { config, shutdown }: Opening,
  observed: { metrics: ApiMetrics; ledger: LedgerContext } & Pick<AppServices, 'directory'>,
): Promise<string | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  const { ledger, directory } = observed;
  const { registry } = observed.metrics;
  observeState(registry, { clock: ledger.clock, directory });
  const { rpc, feePayers } = ledger;
  await shutdown.open('fee payer balances', observeFeePayers(registry, { rpc, feePayers }));
  if (port === undefined) return undefined;
  const settings = { host: 'METRICS_HOST', port: 'METRICS_PORT' };
  const served = await shutdown.open(
    'metrics',
    await serveMetrics({ registry, host, port, settings }),
  );
  return served.url;
}
