import { Connection } from '@solana/web3.js';
import { createAddresses } from '../programs/client/addresses.ts';
import { formatReceipt, receiptMessage, sign } from '../programs/client/proof.ts';
import { createGuardedDispatcher } from '../runtime/addressGuard.ts';
import { createLogger } from '../runtime/logger.ts';
import { createPool } from '../runtime/postgres.ts';
import { createShutdown, type Shutdown } from '../runtime/shutdown.ts';
import { createApp } from './app.ts';
import { createCompletions } from './completion/completions.ts';
import type { ApiConfig } from './config.ts';
import { connectLedger } from './ledger/connectLedger.ts';
import { createEscrow } from './ledger/createEscrow.ts';
import { createUnmirroredJobs } from './ledger/unmirroredJobs.ts';
import { listen, serve } from './listen.ts';
import { createBurstLimit } from './middleware/burstLimit.ts';
import { createWorkerClient } from './routing/workerClient.ts';
import { createWorkerDirectory } from './routing/workerDirectory.ts';
import { createHealthProbe } from './routing/workerHealth.ts';
import { createCatalog } from './services/catalog.ts';
import { createJobWatch } from './services/jobWatch.ts';
import { insertObservation } from './statements/workers.ts';

/** Streams are drained this long; the keeper takes care of what is left. */
const SHUTDOWN_TIMEOUT_MS = 20_000;
const WORKER_CONNECT_TIMEOUT_MS = 5_000;
const POOL_CONNECTIONS_MAX = 20;

/** A running API process. */
export interface RunningApi {
  url: string;
  shutdown: Shutdown;
}

/** Wires one API process together and listens. */
export async function startApi(config: ApiConfig): Promise<RunningApi> {
  const logger = createLogger({ name: 'api', level: config.LOG_LEVEL });
  const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
  const nowMs = () => performance.now();
  const allowLoopback = config.SVC_ALLOW_LOOPBACK;

  const pool = createPool({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'svc-api',
    max: POOL_CONNECTIONS_MAX,
  });
  pool.on('error', (error) => logger.warn({ msg: 'Lost an idle database connection', err: error }));
  shutdown.add('database', () => pool.end());

  const connection = new Connection(config.SOLANA_RPC_URL, {
    commitment: config.SVC_COMMITMENT,
    disableRetryOnRateLimit: true,
    ...(config.SOLANA_WS_URL && { wsEndpoint: config.SOLANA_WS_URL }),
  });
  const addresses = createAddresses(config.SVC_PROGRAM_ID);
  const ledger = await connectLedger({ config, connection, addresses, logger });
  shutdown.add('ledger', ledger.close);
  shutdown.add('late locks', ledger.context.lateLocks.drain);
  const escrow = createEscrow(ledger.context);
  const { clock } = ledger.context;

  const catalog = createCatalog({ database: pool, logger });
  await catalog.start();
  shutdown.add('catalog', catalog.close);
  const watch = createJobWatch({ pool, logger });
  await watch.start();
  shutdown.add('job watch', watch.close);

  const dispatcher = createGuardedDispatcher({
    allowLoopback,
    connectTimeoutMs: WORKER_CONNECT_TIMEOUT_MS,
  });
  shutdown.add('worker connections', () => dispatcher.destroy());
  const probe = createHealthProbe({ dispatcher, allowLoopback });
  const directory = createWorkerDirectory({ database: pool, logger, probe, nowMs });
  await directory.start();
  shutdown.add('worker directory', directory.close);

  const signer = config.SVC_SIGNER_KEY;
  const { programId } = addresses;
  const { server, url, close } = await listen(config);
  const publicUrl = config.PUBLIC_URL ?? url;
  const completions = createCompletions({
    catalog,
    directory,
    escrow,
    watch,
    clock,
    logger,
    programId,
    publicUrl,
    nowSeconds: clock.nowSeconds,
    workers: createWorkerClient({
      signer,
      programId,
      dispatcher,
      allowLoopback,
      nowMs: () => Date.now(),
    }),
    onFirstToken: (observation) => {
      insertObservation(pool, observation).catch((error: unknown) => {
        // One observation of many; the median does without it.
        logger.warn({ msg: 'Failed to record a latency', err: error });
      });
    },
    signReceipt: (job, outputHash) => {
      const message = receiptMessage({ programId, job: job.address, outputHash });
      return formatReceipt(signer.publicKey, sign(message, signer));
    },
  });

  const app = createApp({
    database: pool,
    logger,
    catalog,
    directory,
    completions,
    publicUrl,
    unmirrored: createUnmirroredJobs({
      connection,
      addresses,
      catalog,
      commitment: config.SVC_COMMITMENT,
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
    gateway: config.SVC_GATEWAY.toBase58(),
    trustedProxyHops: config.SVC_TRUSTED_PROXY_HOPS,
  });
  serve(server, app, publicUrl);
  shutdown.add('jobs under way', completions.drain);
  shutdown.add('server', close);
  logger.info({ msg: 'Listened', url });
  return { url, shutdown };
}
