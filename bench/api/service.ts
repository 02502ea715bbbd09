import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { createKey } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import type { Shutdown } from '../../common/shutdown.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { untilReady } from '../../stack/child.ts';
import { startDatabase } from '../../stack/database.ts';
import { registerWorker } from '../../stack/participants.ts';
import { findFreePort } from '../../stack/port.ts';
import { startProcess } from '../../testing/childProcess.ts';
import { openService, startLedger } from '../../testing/ledger/ledger.ts';
import type { Target } from '../load.ts';

/** A server under load, and where its use is read: from its metrics, or from the system. */
export type MeteredTarget = Target & ({ metricsUrl: string } | { pid: number });

const READY_TIMEOUT_MS = 60_000;
/** A cluster's, because the clock is read once a slot: SIMD-0525, on mainnet since October 2026. */
const CLUSTER_SLOT_MS = 200;
const SIGNER_LAMPORTS = 1e12;

/**
 * The API on a real database, with a worker that answers at once. It reads only the time from the
 * ledger. The indexer fills the mirror once and ends.
 *
 * @param options.nodeOptions for the API's process, such as `--cpu-prof`
 * @param options.against a checkout of another release, whose API is started beside this one
 */
export async function startStubbedService(options: {
  shutdown: Shutdown;
  nodeOptions: string;
  against?: string | undefined;
}) {
  const { shutdown, nodeOptions, against } = options;
  const ledger = await startLedger({ slotMs: CLUSTER_SLOT_MS });
  shutdown.add('ledger', ledger.close);
  const { databaseUrl, close } = await startDatabase();
  shutdown.add('database', close);
  const { operator, mints, model, wallet, gateway, hotSigner } = await openService(ledger);

  const authority = Keypair.generate();
  const proofKey = Keypair.generate();
  const workerAddress = createAddresses().worker(authority.publicKey).toBase58();
  const worker = await startProcess('bench/api/instantWorker.ts', {
    BENCH_WORKER_ADDRESS: workerAddress,
    BENCH_PROOF_KEY: base58.encode(proofKey.secretKey),
  });
  shutdown.add('worker', async () => void (await worker.terminate()));
  await registerWorker(operator, {
    authority,
    mints,
    proofKey: proofKey.publicKey,
    endpoint: worker.url,
    modelIds: [model.id],
    stakeTokens: 1_000n,
  });

  const shared = {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL: ledger.wsUrl,
    SVC_SECRETS_KEY: randomBytes(32).toString('base64'),
    SVC_ALLOW_LOOPBACK: 'true',
    LOG_LEVEL: 'warn',
  };
  await ledger.fundLamports(hotSigner.publicKey, SIGNER_LAMPORTS);
  const crank = base58.encode(ledger.payer.secretKey);
  const indexer = await startProcess('indexer/main.ts', {
    ...shared,
    INDEXER_PORT: '0',
    INDEXER_LAG_SLOTS_MAX: '1500',
    SVC_CRANK_KEY: crank,
  });
  await untilReady(indexer.url, AbortSignal.timeout(READY_TIMEOUT_MS));
  await indexer.terminate();

  const mirror = await startProcess('bench/api/stubbedIndexer.ts', { DATABASE_URL: databaseUrl });
  shutdown.add('stubbed indexer', async () => void (await mirror.terminate()));
  const pool = createPool({ databaseUrl, applicationName: 'bench' });
  const apiKey = await createKey(pool, wallet.publicKey.toBase58());
  await pool.end();
  const parts = await startProcess('bench/api/partsAlone.ts', {
    DATABASE_URL: databaseUrl,
    BENCH_WORKER_URL: worker.url,
    BENCH_WORKER_ADDRESS: workerAddress,
    BENCH_PROGRAM: PROGRAM_ID.toBase58(),
  });
  shutdown.add('parts', async () => void (await parts.terminate()));
  const client = { apiKey, model: model.id };
  const startApi = async (folder?: string) => {
    const metricsPort = await findFreePort();
    const settings = {
      ...shared,
      PORT: '0',
      METRICS_PORT: `${metricsPort}`,
      NODE_OPTIONS: nodeOptions,
      SVC_GATEWAY: gateway.toBase58(),
      SVC_SIGNER_KEY: base58.encode(hotSigner.secretKey),
    };
    const api = await startProcess('bench/api/stubbedApi.ts', settings, folder);
    shutdown.add('api', async () => void (await api.terminate()));
    const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    return { ...client, url: `${api.url}/v1`, metricsUrl, id: api.id };
  };
  const target = await startApi();
  const other = against === undefined ? undefined : await startApi(against);
  return {
    target,
    /** The API of another release, where one was named. */
    other,
    /** The process ids of the APIs and of `partsAlone.ts`. */
    processIds: [target.id, parts.id, ...(other ? [other.id] : [])],
    /** Its worker, called without the service. */
    upstream: { ...client, ...metered({ url: `${worker.url}/v1` }) },
    /** The minimum of the API's work: see partsAlone.ts. */
    parts: { ...client, ...metered(parts) },
    databaseUrl,
  };
}

/** The addresses of one of the benchmark's own servers and of its metrics; the url ends in /v1. */
export function metered({ url }: { url: string }): { url: string; metricsUrl: string } {
  return { url, metricsUrl: new URL('/metrics', url).href };
}
