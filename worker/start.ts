import { createServer } from 'node:http';
import { createLogger } from '../common/logger.ts';
import { chooseCommitment } from '../common/net/commitment.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { serveMetrics } from '../common/net/serveMetrics.ts';
import { hostInUrl, listenAt } from '../common/net/urls.ts';
import { createShutdown } from '../common/shutdown.ts';
import { createWorker } from './app.ts';
import type { WorkerConfig } from './config.ts';
import { createBuiltinEngine } from './engine/builtin.ts';
import type { Engine } from './engine/engine.ts';
import { createUpstreamEngine } from './engine/upstream.ts';
import type { Terms } from './ledger/terms.ts';
import { createWorkerMetrics } from './metrics.ts';

/** The time for closing the server after the jobs have ended. */
const CLOSING_MS = 1_000;
/** Longer than the pause between two jobs, so that the gateway's connections stay open. */
const KEEP_ALIVE_MS = 65_000;

/**
 * Starts the reference worker.
 *
 * @returns its account's `address`, and its `engine` as in the header `x-svc-engine`. `shutdown` ends
 *   the running jobs within the configured time, then the server
 * @throws ConfigError when a port is occupied or not permitted; nothing goes on then
 */
export async function startWorker(config: WorkerConfig) {
  const logger = createLogger({ name: 'worker', level: config.LOG_LEVEL });
  const engine = createEngine(config);
  const { WORKER_METRICS_HOST, WORKER_METRICS_PORT } = config;
  const metrics = WORKER_METRICS_PORT === undefined ? undefined : createWorkerMetrics();
  const rpc = connectPooledRpc({ url: config.SOLANA_RPC_URL });
  const worker = createWorker({
    identity: {
      programId: config.SVC_PROGRAM_ID,
      authority: config.WORKER_AUTHORITY,
      proofKey: config.WORKER_PROOF_KEY,
      capacity: config.WORKER_SLOTS,
      terms: termsOf(config),
    },
    rpc,
    // It listens without having heard of its ledger.
    commitment: chooseCommitment({ chosen: config.SVC_COMMITMENT, rpc, logger }),
    engine,
    logger,
    metrics,
  });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, worker.app);
  const graceMs = config.WORKER_SHUTDOWN_TIMEOUT_MS;
  const shutdown = createShutdown({ logger, timeoutMs: graceMs + CLOSING_MS });
  shutdown.add('server', async () => {
    server.close();
    await worker.close(graceMs);
    server.closeAllConnections();
  });
  try {
    const { address, port } = await listenAt(server, {
      host: config.WORKER_HOST,
      port: config.WORKER_PORT,
      settings: { host: 'WORKER_HOST', port: 'WORKER_PORT' },
    });
    if (metrics && WORKER_METRICS_PORT !== undefined) {
      const served = await serveMetrics({
        registry: metrics.registry,
        host: WORKER_METRICS_HOST,
        port: WORKER_METRICS_PORT,
        settings: { host: 'WORKER_METRICS_HOST', port: 'WORKER_METRICS_PORT' },
        reports: { '/jobs': metrics.report },
      });
      shutdown.add('metrics', served.close);
      logger.info({ msg: 'Served metrics', metrics_url: served.url });
    }
    const url = `http://${hostInUrl(address)}:${port}`;
    return { url, address: worker.address.toBase58(), engine: engine.kind, shutdown };
  } catch (error) {
    // An open server, or the trial of a model, would keep the process alive.
    await shutdown.run();
    throw error;
  }
}

/** What the worker demands of jobs. */
export function termsOf(config: WorkerConfig): Terms {
  return {
    gateways: config.WORKER_GATEWAYS,
    shareMinBasisPoints: config.WORKER_SHARE_MIN_BASIS_POINTS,
  };
}

/** The engine that the settings name. */
export function createEngine(config: WorkerConfig): Engine {
  const { WORKER_UPSTREAM_URL: url } = config;
  if (!url) return createBuiltinEngine({ tokenDelayMs: config.WORKER_ENGINE_TOKEN_DELAY_MS });
  return createUpstreamEngine({
    url,
    model: config.WORKER_UPSTREAM_MODEL,
    models: config.WORKER_MODELS,
    key: config.WORKER_UPSTREAM_KEY,
  });
}
