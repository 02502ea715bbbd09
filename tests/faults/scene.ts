import type { Keypair } from '@solana/web3.js';
import { createBackground } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';
import { type LedgerGate, startLedgerGate } from '../../testing/ledger/ledgerGate.ts';
import type { Random } from '../../testing/random.ts';
import { samplesOf } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import type { JobAccount } from './books.ts';
import type { Received } from './client.ts';
import { proveGarbage } from './sabotage.ts';
import { drawWeighted, type Tally } from './tally.ts';
import { openUpstreams } from './upstreams.ts';
import { startWorkerProcess, type WorkerProcess } from './workerProcess.ts';

const HONEST_WORKERS = 3;
/** Few, so that the faulty ones are asked too. */
const HONEST_CAPACITY = 3;
const FAULTY_WORKERS = 12;
const WALLETS = 32;
const CREDITS = 1_000_000n;

/** How often a faulty worker does what: with an answer now and then, it is soon asked again. */
const WORKER_WEIGHTS: Partial<Record<WorkerMode, number>> = {
  honest: 40,
  ...{ dies_midstream: 6, wrong_hash: 6, forged_signature: 6, empty_output: 5, no_proof: 5 },
  ...{
    inflates_count: 6,
    refuses: 3,
    is_full: 3,
    fails: 4,
    resets: 6,
    sends_nonsense: 4,
    floods: 1,
  },
  ...{ claims_not_open: 4, never_answers: 2, hangs_midstream: 2, endless: 1 },
};

export interface Wallet {
  apiKey: string;
  keypair: Keypair;
  /** The address of its account on the ledger. */
  creditAccount: string;
}

/** The whole service, with sound and faulty workers, and gates around its API. */
export interface Scene {
  service: RunningService;
  ledgerGate: LedgerGate;
  databaseGate: DatabaseGate;
  wallets: readonly Wallet[];
  /** A worker in its own process, to be killed. */
  workerProcess: WorkerProcess;
  /** A wallet that asks workers itself. */
  thief: Wallet;
  honest: readonly TestWorker[];
  /** What is wrong with a charge for what an upstream answered; undefined if nothing. */
  judge(
    job: JobAccount,
    asked: { question: string; whole: Received | undefined },
  ): string | undefined;
  /** Another API process, to be killed. */
  spare(): Promise<StartedProcess>;
  /** The processes of the indexer, the leading one first. */
  indexers: StartedProcess[];
  /** Incidents that the API has counted against each worker. */
  failures(): Promise<Map<string, number>>;
  /** Resolves when no worker is at proving garbage. */
  sabotaged(): Promise<void>;
  close(): Promise<void>;
}

export async function openScene(random: Random, tally: Tally): Promise<Scene> {
  const sabotages = createBackground();
  const gates: { ledger?: LedgerGate; database?: DatabaseGate } = {};
  /** Each of them has one job at a time, so that a job's fault is its own. */
  const drawMode = (index: number): WorkerMode => {
    const mode = drawWeighted(random, WORKER_WEIGHTS as Record<WorkerMode, number>);
    if (mode === 'never_answers' && random.below(2) === 0) {
      tally.note('worker proves garbage and leaves');
      sabotages.add(proveGarbage(service, service.workers[HONEST_WORKERS + index] as TestWorker));
    } else if (mode !== 'honest') tally.note(`worker ${mode}`);
    return mode;
  };
  const upstreams = await openUpstreams({ random, tally });
  const service = await startRunningService({
    workers: [
      ...Array.from({ length: HONEST_WORKERS }, () => ({ capacity: HONEST_CAPACITY })),
      ...Array.from({ length: FAULTY_WORKERS }, (_, index) => ({
        mode: () => drawMode(index),
        capacity: 1,
      })),
      ...upstreams.urls.map((url) => ({ engine: createUpstreamEngine({ url }), capacity: 1 })),
    ],
    indexer: 'process',
    // The clients of this test leave and fail far more often than any wallet may.
    indexerSettings: {
      SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: '0',
      SVC_ABUSE_REJECTED_DISPUTES_PER_30_DAYS: '0',
    },
    async apiSettings({ SOLANA_RPC_URL, DATABASE_URL }) {
      gates.ledger = await startLedgerGate(SOLANA_RPC_URL);
      gates.database = await startDatabaseGate(DATABASE_URL);
      return {
        SOLANA_RPC_URL: gates.ledger.url,
        DATABASE_URL: gates.database.databaseUrl,
        METRICS_PORT: '0',
        SVC_PREVIEW: 'tools',
        SVC_SUBMISSIONS_MAX: '16',
        SVC_BURST_REQUESTS: '100000',
        SVC_BURST_REFUSED_KEYS: '100000',
      };
    },
  });
  const openWallet = async (): Promise<Wallet> => {
    const { address, apiKey, keypair } = await service.addWallet(CREDITS);
    return {
      apiKey,
      keypair,
      creditAccount: createAddresses().creditAccount(address).toBase58(),
    };
  };
  const wallets = await Promise.all(Array.from({ length: WALLETS }, openWallet));
  const thief = await openWallet();
  const workerProcess = await startWorkerProcess(service);
  const { ledger: ledgerGate, database: databaseGate } = gates as Required<typeof gates>;
  const indexers = [service.indexer as StartedProcess];
  const upstreamWorkers = service.workers.slice(HONEST_WORKERS + FAULTY_WORKERS);
  const scene: Scene = {
    ...{ thief, workerProcess, service, ledgerGate, databaseGate, wallets, indexers },
    honest: [
      ...service.workers.slice(0, HONEST_WORKERS),
      ...upstreams.honest.map((index) => upstreamWorkers[index] as TestWorker),
    ],
    judge: (job, asked) =>
      upstreams.judge(
        upstreamWorkers.findIndex(({ address }) => address === job.worker),
        asked,
      ),
    spare: () => service.startApiProcess(),
    async failures() {
      const page = await (await fetch(String(service.metricsUrl))).text();
      const found = [...samplesOf(page)].flatMap(([name, value]) => {
        const worker = /^svc_api_worker_failures_total\{worker="(\w+)"\}$/.exec(name)?.[1];
        return worker === undefined ? [] : [[worker, value] as const];
      });
      return new Map(found);
    },
    sabotaged: sabotages.drain,
    async close() {
      await sabotages.drain();
      for (const indexer of indexers) await indexer.terminate();
      await workerProcess.close();
      await service.close();
      upstreams.close();
      await ledgerGate.close();
      await databaseGate.close();
    },
  };
  return scene;
}
