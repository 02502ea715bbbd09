import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { registerWorker } from '../../stack/participants.ts';
import { findFreePort } from '../../stack/port.ts';
import { PROJECT_FOLDER, type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { openService, type Service, type TestLedger } from '../../testing/ledger/ledger.ts';

/** Processes of two releases on one ledger and one database, each at an address that it keeps. */
export interface Fleet {
  service: Service;
  /** What its wallet had at first. */
  boughtCredits: bigint;
  indexer: Slot;
  apis: readonly [Slot, Slot];
  workers: readonly [Slot, Slot];
  close(): Promise<void>;
}

/** Where one process of the fleet runs, of one release after another. */
interface Slot {
  url: string;
  /** Starts it from a release's folder; by default this checkout's. */
  start(folder?: string): Promise<void>;
  /** Ends it as a supervisor does. @throws Error unless it says that all was closed in time */
  stop(): Promise<void>;
  /** Starts another one besides, at any port. */
  startBeside(folder: string): Promise<StartedProcess>;
}

const BOUGHT_CREDITS = 100_000n;
const FEE_PAYER_LAMPORTS = 1_000 * LAMPORTS_PER_SOL;
/** So that jobs run whenever a process is replaced. */
const TOKEN_DELAY_MS = '3';

export async function createFleet(ledger: TestLedger, databaseUrl: string): Promise<Fleet> {
  const service = await openService(ledger, { credits: BOUGHT_CREDITS });
  const { gateway, hotSigner, model } = service;
  const feePayer = Keypair.generate();
  const crank = Keypair.generate();
  for (const { publicKey } of [feePayer, service.hotSigner, crank]) {
    await ledger.fundLamports(publicKey, FEE_PAYER_LAMPORTS);
  }
  const slots: Slot[] = [];
  const shared = {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL: ledger.wsUrl,
    SVC_SECRETS_KEY: randomBytes(32).toString('base64'),
    SVC_ALLOW_LOOPBACK: 'true',
    LOG_LEVEL: 'warn',
  };

  async function open(
    main: string,
    environmentAt: (port: string) => Record<string, string>,
  ): Promise<Slot> {
    const port = String(await findFreePort());
    let running: StartedProcess | undefined;
    const slot: Slot = {
      url: `http://127.0.0.1:${port}`,
      async start(folder = PROJECT_FOLDER) {
        running = await startProcess(main, environmentAt(port), folder);
      },
      async stop() {
        const code = await running?.terminate();
        if (running && code !== 0) throw new Error(`${main} ended (${code}): ${running.logged()}`);
        running = undefined;
      },
      startBeside: (folder) => startProcess(main, environmentAt('0'), folder),
    };
    slots.push(slot);
    return slot;
  }

  const openApi = () =>
    open('api/main.ts', (PORT) => ({
      ...shared,
      PORT,
      SVC_ALLOW_BUILTIN_WORKERS: 'true',
      SVC_GATEWAY: gateway.toBase58(),
      SVC_SIGNER_KEY: base58.encode(hotSigner.secretKey),
      SVC_FEE_PAYER_KEYS: base58.encode(feePayer.secretKey),
    }));

  async function openWorker(): Promise<Slot> {
    const authority = Keypair.generate();
    const proofKey = Keypair.generate();
    const slot = await open('worker/main.ts', (WORKER_PORT) => ({
      WORKER_PORT,
      WORKER_AUTHORITY: authority.publicKey.toBase58(),
      WORKER_PROOF_KEY: base58.encode(proofKey.secretKey),
      WORKER_ENGINE: 'builtin',
      WORKER_ENGINE_TOKEN_DELAY_MS: TOKEN_DELAY_MS,
      WORKER_GATEWAYS: gateway.toBase58(),
      SOLANA_RPC_URL: ledger.rpcUrl,
      LOG_LEVEL: 'warn',
    }));
    await registerWorker(service.operator, {
      authority,
      proofKey: proofKey.publicKey,
      endpoint: slot.url,
      modelIds: [model.id],
      stakeTokens: 1_000n,
      mints: service.mints,
    });
    return slot;
  }

  return {
    service,
    boughtCredits: BOUGHT_CREDITS,
    indexer: await open('indexer/main.ts', (INDEXER_PORT) => ({
      ...shared,
      INDEXER_PORT,
      SVC_CRANK_KEY: base58.encode(crank.secretKey),
    })),
    apis: [await openApi(), await openApi()],
    workers: [await openWorker(), await openWorker()],
    close: async () => {
      for (const slot of slots.reverse()) await slot.stop();
    },
  };
}
