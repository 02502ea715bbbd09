import type { PublicKey } from '@solana/web3.js';
import { portCheck } from '../common/net/connectionChecks.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import type { StartCheck } from '../common/startChecks.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { WorkerConfig } from './config.ts';
import { requireEligible } from './ledger/eligibility.ts';
import { createWorkerLedger, type WorkerLedger } from './ledger/ledger.ts';
import { WorkerError } from './protocol/errors.ts';
import { createEngine, termsOf } from './start.ts';

/** What `--check` tries of a worker's settings. */
export function createStartChecks(config: WorkerConfig): StartCheck[] {
  const { SVC_PROGRAM_ID: programId, WORKER_METRICS_PORT: metricsPort } = config;
  const worker = createAddresses(programId).worker(config.WORKER_AUTHORITY);
  const rpc = connectPooledRpc({ url: config.SOLANA_RPC_URL });
  const ledger = createWorkerLedger({
    ...{ rpc, programId, worker },
    commitment: config.SVC_COMMITMENT ?? 'confirmed',
  });
  return [
    {
      what: 'program',
      run: async () => {
        const { config: found } = await ledger.readHosting();
        if (!found) throw new Error(`The program ${programId} is not set up on this ledger.`);
        return String(programId);
      },
    },
    { what: 'account', run: () => describeAccount(ledger, config, worker) },
    { what: 'gateways', run: () => checkGateways(ledger, config) },
    {
      what: 'upstream',
      run: async () => {
        await createEngine(config).check?.();
        return config.WORKER_UPSTREAM_URL ?? 'none: the built-in engine';
      },
    },
    portCheck({
      ...{ host: config.WORKER_HOST, port: config.WORKER_PORT },
      settings: { host: 'WORKER_HOST', port: 'WORKER_PORT' },
    }),
    ...(metricsPort === undefined
      ? []
      : [
          portCheck(
            {
              ...{ host: config.WORKER_METRICS_HOST, port: metricsPort },
              settings: { host: 'WORKER_METRICS_HOST', port: 'WORKER_METRICS_PORT' },
            },
            'metrics port',
          ),
        ]),
  ];
}

/** A worker may start before its registration, so what it lacks there is no fault. */
async function describeAccount(
  ledger: WorkerLedger,
  config: WorkerConfig,
  worker: PublicKey,
): Promise<string> {
  const hosting = await ledger.readHosting();
  try {
    const { publicKey: proofKey } = config.WORKER_PROOF_KEY;
    requireEligible(hosting, { proofKey, terms: termsOf(config) });
    return `${worker} hosts ${hosting.models.join(', ') || 'nothing'}`;
  } catch (error) {
    if (error instanceof WorkerError) return error.message;
    throw error;
  }
}

async function checkGateways(
  ledger: WorkerLedger,
  { WORKER_GATEWAYS: gateways }: WorkerConfig,
): Promise<string> {
  if (gateways === 'any') return 'any: also wallets that read answers and fail the jobs';
  for (const gateway of gateways) {
    if (await ledger.readGateway(gateway)) continue;
    throw new Error(`There is no Gateway at ${gateway} on this ledger.`);
  }
  return `${gateways.length} found`;
}
