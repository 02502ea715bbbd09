import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { fetchConfig } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { registerWorker } from '../../stack/participants.ts';
import { findFreePort } from '../../stack/port.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import type { RunningService } from '../../testing/service/runningService.ts';

/** A reference worker in its own process. */
export interface WorkerProcess {
  /** Kills it in all that it does, and starts it again at its address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const TOKEN_DELAY_MS = 3;

export async function startWorkerProcess(service: RunningService): Promise<WorkerProcess> {
  const { operator, model, ledger } = service;
  const authority = Keypair.generate();
  const proofKey = Keypair.generate();
  const port = await findFreePort();
  const config = await fetchConfig(ledger.connection, createAddresses().config);
  if (!config) throw new Error('the program has no config');
  await registerWorker(operator, {
    authority,
    proofKey: proofKey.publicKey,
    endpoint: `http://127.0.0.1:${port}`,
    modelIds: [model.id],
    stakeTokens: 1_000n,
    mints: { credit: config.creditMint, stake: config.stakeMint },
  });
  const start = (): Promise<StartedProcess> =>
    startProcess('worker/main.ts', {
      WORKER_PORT: String(port),
      WORKER_AUTHORITY: authority.publicKey.toBase58(),
      WORKER_PROOF_KEY: base58.encode(proofKey.secretKey),
      WORKER_ENGINE: 'builtin',
      WORKER_ENGINE_TOKEN_DELAY_MS: String(TOKEN_DELAY_MS),
      WORKER_GATEWAYS: String(service.apiEnvironment.SVC_GATEWAY),
      WORKER_SLOTS: '4',
      SOLANA_RPC_URL: ledger.rpcUrl,
      LOG_LEVEL: 'fatal',
    });
  let running = await start();
  return {
    async restart() {
      await running.kill();
      running = await start();
    },
    close: () => running.kill(),
  };
}
