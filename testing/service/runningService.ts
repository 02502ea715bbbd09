import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import OpenAI from 'openai';
import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import type { Logger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import type { Shutdown } from '../../common/shutdown.ts';
import { delay } from '../../common/wait.ts';
import type { TimeLimits } from '../../indexer/timeLimits.ts';
import type { ProfileName } from '../../localnet/profile.ts';
import {
  fetchAllCreditAccounts,
  fetchAllJobs,
  fetchAllWorkers,
  fetchCreditAccount,
  fetchTreasury,
} from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import type { CreditAccount, Job } from '../../programs/client/generated/types.ts';
import { openCreditAccount } from '../../stack/participants.ts';
import { type StartedProcess, startProcess } from '../childProcess.ts';
import { createTestDatabase } from '../database/database.ts';
import { startIndexerInProcess, type TestIndexer } from '../indexer/inProcessIndexer.ts';
import {
  advanceSeconds,
  LONG_BLOCKHASH_MS,
  PROFILE,
  type Service,
  type TestLedger,
} from '../ledger/ledger.ts';
import { startOpenedLedger } from '../ledger/openedLedger.ts';
import { readTokenAccount } from '../ledger/tokens.ts';
import { createMovableTime, type MovableTime } from '../movableTime.ts';
import { until as untilSo } from '../until.ts';
import { startTestWorker, type TestWorker, type WorkerBehaviour } from '../workers/testWorker.ts';

export type { WorkerBehaviour } from '../workers/testWorker.ts';

interface FoundJob {
  address: PublicKey;
  data: Job;
}

/** The whole service on real parts: ledger, database, indexer, workers and API. */
export interface RunningService extends Service {
  baseUrl: string;
  /** The address of the API's metrics, when METRICS_PORT is set. */
  metricsUrl: string | undefined;
  apiKey: string;
  boughtCredits: bigint;
  workers: readonly TestWorker[];
  /** Starts and registers a further worker; the API finds it within six seconds of its time. */
  addWorker(behaviour: WorkerBehaviour): Promise<TestWorker>;
  ledger: TestLedger;
  pool: pg.Pool;
  indexer: TestIndexer;
  /** The official client, without automatic retries by default. */
  openai(options?: { apiKey?: string; maxRetries?: number }): OpenAI;
  /** GET as JSON, of any status. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared as a whole by the tests
  get(path: string, apiKey?: string): Promise<any>;
  /** Another wallet with credits and a key of its own. */
  addWallet(credits: bigint): Promise<{ address: PublicKey; apiKey: string; keypair: Keypair }>;
  /** A wallet's account on the ledger; by default the first wallet's. */
  account(wallet?: PublicKey): Promise<CreditAccount>;
  /** Waits until the first wallet's account satisfies the condition. */
  untilAccount(holds: (account: CreditAccount) => boolean): Promise<CreditAccount>;
  /** All jobs on the ledger. */
  jobs(): Promise<FoundJob[]>;
  untilJobs(holds: (jobs: FoundJob[]) => boolean): Promise<FoundJob[]>;
  /** Waits until this many jobs are at a worker: before, the API may not know of their locks. */
  untilDispatched(count: number): Promise<FoundJob[]>;
  /** Waits until the mirror has every job in its current state. */
  untilMirrored(): Promise<void>;
  /** Moves the ledger's Clock on, and its slots; the API in this process has seen it then. */
  advanceSeconds(seconds: number): Promise<void>;
  /** What the API waits by, apart from processes of its own. */
  time: MovableTime;
  /** Waits until the API shows what it reads from the mirror now and then, whose time is brought. */
  untilShown(isSo: () => Promise<boolean>): Promise<void>;
  /** The conservation equation on the accounts, to the base unit. */
  expectConserved(): Promise<void>;
  /** The environment of an API process. */
  apiEnvironment: Record<string, string>;
  /** The environment of an indexer process. */
  indexerEnvironment: Record<string, string>;
  /** Another API on the same ledger and database, in this process, with further settings. */
  startInstance(
    settings?: Record<string, string>,
    logger?: Logger,
  ): Promise<{ url: string; shutdown: Shutdown }>;
  /** The same in a process of its own, which can be killed and takes a second more to start. */
  startApiProcess(settings?: Record<string, string>): Promise<StartedProcess>;
  close(): Promise<void>;
}

/** The settings that indexer and API share. */
type SharedSettings = Record<
  'DATABASE_URL' | 'SOLANA_RPC_URL' | 'SOLANA_WS_URL' | 'SVC_SECRETS_KEY' | 'SVC_ALLOW_LOOPBACK',
  string
>;

const addresses = createAddresses();
const isDispatched = ({ data }: FoundJob) => data.status === 'processing';
/** Tests make parts of the service fail, which would fill the log. */
const LOG_LEVEL = process.env.LOG_LEVEL ?? 'fatal';
/** Less than a journey's time-out, so that the error names what was last seen. */
const WAIT_MS_MAX = 50_000;
const POLL_MS = 50;

export async function startRunningService({
  workers: behaviours = ['honest'],
  credits: boughtCredits = 10_000n,
  apiSettings = {},
  queryTimeoutMs,
  blockhashMs = LONG_BLOCKHASH_MS,
  profile = PROFILE,
  indexer: indexerKind = 'inside',
  indexerSettings = {},
  indexerLimits = {},
}: {
  workers?: readonly WorkerBehaviour[];
  credits?: bigint;
  /** Further settings of the API, or a function that derives them from the shared ones. */
  apiSettings?: NodeJS.ProcessEnv | ((shared: SharedSettings) => Promise<NodeJS.ProcessEnv>);
  /** After so long a silent database counts as away. */
  queryTimeoutMs?: number;
  /** How long a transaction may take to land: shorter where a test waits until one has expired. */
  blockhashMs?: number;
  /** The ledger's; by default that of `LEDGER_PROFILE`. */
  profile?: ProfileName | undefined;
  /** An own process can be killed, and takes a second more to start. */
  indexer?: 'inside' | 'process';
  /** Further settings of the indexer, or a function that derives them from the shared ones. */
  indexerSettings?:
    | Record<string, string>
    | ((shared: SharedSettings) => Promise<Record<string, string>>);
  /** Time limits of an indexer inside that differ from the published ones. */
  indexerLimits?: Partial<TimeLimits>;
} = {}): Promise<RunningService> {
  const [{ ledger, opened, crank }, database] = await Promise.all([
    startOpenedLedger({ blockhashMs, ...(profile && { profile }) }, boughtCredits),
    createTestDatabase(),
  ]);
  const { connection, rpc } = ledger;
  const addWorker = async (behaviour: WorkerBehaviour) => {
    const worker = await startTestWorker({ behaviour, rpc, opened });
    started.push(worker);
    return worker;
  };
  const started: TestWorker[] = [];
  const workers = await Promise.all(behaviours.map(addWorker));

  const shared: SharedSettings = {
    DATABASE_URL: database.databaseUrl,
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL: ledger.wsUrl,
    SVC_SECRETS_KEY: randomBytes(32).toString('base64'),
    SVC_ALLOW_LOOPBACK: 'true',
  };
  const indexerEnvironment = {
    ...shared,
    INDEXER_PORT: '0',
    SVC_CRANK_KEY: base58.encode(crank.secretKey),
    LOG_LEVEL,
    ...(typeof indexerSettings === 'function' ? await indexerSettings(shared) : indexerSettings),
  };
  const time = createMovableTime();
  const indexer =
    indexerKind === 'process'
      ? await startProcess('indexer/main.ts', indexerEnvironment)
      : await startIndexerInProcess(indexerEnvironment, indexerLimits);
  const pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  const apiKey = await createKey(pool, opened.wallet.publicKey.toBase58());
  const apiEnvironment = {
    ...shared,
    PORT: '0',
    SVC_ALLOW_BUILTIN_WORKERS: 'true',
    SVC_GATEWAY: opened.gateway.toBase58(),
    SVC_SIGNER_KEY: base58.encode(opened.hotSigner.secretKey),
    SVC_SUBMISSIONS_MAX: '2',
    LOG_LEVEL,
    ...(typeof apiSettings === 'function' ? await apiSettings(shared) : apiSettings),
  };
  // The worker of the ledger's setup has no process and gets no jobs.
  await untilHosted(pool, behaviours.length + 1);
  const startInstance = (settings: NodeJS.ProcessEnv = {}, logger?: Logger) =>
    startApi(loadConfig({ ...apiEnvironment, ...settings }), {
      time,
      ...(logger && { logger }),
      ...(queryTimeoutMs && { queryTimeoutMs }),
    });
  const api = await startInstance();
  const instances = [api];
  const others: StartedProcess[] = [];
  const baseUrl = api.url;

  const jobs = () => fetchAllJobs(connection, { commitment: 'confirmed' });

  async function account(wallet = opened.wallet.publicKey): Promise<CreditAccount> {
    const address = addresses.creditAccount(wallet);
    const found = await fetchCreditAccount(connection, address, { commitment: 'confirmed' });
    if (!found) throw new Error('the wallet has no credit account');
    return found;
  }

  async function untilJobs(holds: (found: FoundJob[]) => boolean): Promise<FoundJob[]> {
    return until(jobs, holds, (found) => found.map(({ data }) => data.status).join());
  }

  async function untilAccount(holds: (found: CreditAccount) => boolean): Promise<CreditAccount> {
    return until(account, holds, ({ availableCredits }) => `${availableCredits} available`);
  }

  return {
    metricsUrl: api.metricsUrl,
    ...{ untilAccount, apiEnvironment, indexerEnvironment, baseUrl, apiKey, boughtCredits },
    ...opened,
    ...{ workers, addWorker, ledger, pool, indexer, account, jobs, untilJobs },
    untilDispatched: (count) => untilJobs((found) => found.filter(isDispatched).length === count),
    openai: ({ apiKey: key = apiKey, maxRetries = 0 } = {}) =>
      new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries }),
    async get(path, key = apiKey) {
      const response = await fetch(`${baseUrl}${path}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return response.json();
    },
    async addWallet(credits) {
      const wallet = Keypair.generate();
      const { operator, mints, gateway: spender } = opened;
      await openCreditAccount(operator, { wallet, spender, credits, mints });
      const address = wallet.publicKey;
      const isMirrored = async () =>
        pool
          .query(
            'select 1 from mirror.credit_accounts where wallet = $1 and available_credits = $2',
            [address.toBase58(), credits],
          )
          .then(({ rowCount }) => rowCount === 1);
      await until(isMirrored, (found) => found, String);
      return { address, keypair: wallet, apiKey: await createKey(pool, address.toBase58()) };
    },
    async untilMirrored() {
      const onLedger = await jobs();
      // Compared with the ledger's state now, since jobs may continue in between.
      const readMissing = async () => {
        const { rows } = await pool.query<{ address: string; sequence: bigint }>(
          'select address, sequence from mirror.jobs',
        );
        const mirrored = new Map(rows.map(({ address, sequence }) => [address, sequence]));
        return onLedger
          .filter(({ address, data }) => (mirrored.get(address.toBase58()) ?? -1n) < data.sequence)
          .map(({ address, data }) => `${address} ${data.sequence}`);
      };
      await until(readMissing, (missing) => missing.length === 0, String);
    },
    time,
    untilShown: (isSo) => time.advanceUntil(untilSo(isSo)),
    async advanceSeconds(seconds) {
      await advanceSeconds(connection, seconds);
      // One that a test has cut off from the ledger sees it later.
      await Promise.allSettled(instances.map(({ clock }) => clock.read()));
    },
    expectConserved: () => expectConserved(ledger),
    async startInstance(settings, logger) {
      const instance = await startInstance(settings, logger);
      instances.push(instance);
      return instance;
    },
    async startApiProcess(settings = {}) {
      const started = await startProcess('api/main.ts', { ...apiEnvironment, ...settings });
      others.push(started);
      return started;
    },
    async close() {
      await Promise.all(others.map((other) => other.kill()));
      // Without their workers, jobs that a test has left fail at once.
      await Promise.all(started.map((worker) => worker.close()));
      const areClean = await Promise.all(instances.map(({ shutdown }) => shutdown.run()));
      await indexer.terminate();
      await pool.end();
      await ledger.close();
      await database.close();
      if (areClean.includes(false)) {
        throw new Error('An API did not close in time; LOG_LEVEL=error says what');
      }
    },
  };
}

async function untilHosted(pool: pg.Pool, workers: number): Promise<void> {
  const count = async () => {
    const { rows } = await pool.query('select distinct worker from mirror.worker_models');
    return rows.length;
  };
  await until(count, (found) => found >= workers, String);
}

/** Polls until `holds`: other processes make the change, so there is no event to wait for. */
async function until<Found>(
  read: () => Promise<Found>,
  holds: (found: Found) => boolean,
  describeFound: (found: Found) => string,
): Promise<Found> {
  const deadline = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const found = await read();
    if (holds(found)) return found;
    if (performance.now() > deadline) {
      throw new Error(`Gave up waiting; last seen: ${describeFound(found)}`);
    }
    await delay(POLL_MS);
  }
}

/** The conservation equation on the accounts, to the base unit. */
async function expectConserved(ledger: Pick<TestLedger, 'connection'>): Promise<void> {
  // They are read one after the other, and a job may end in between.
  let books = await readSums(ledger);
  for (let earlier: unknown; !isDeepStrictEqual(books, earlier); books = await readSums(ledger)) {
    earlier = books;
  }
  const { vault, credits, claimable, unpaid } = books;
  assert.equal(vault, BASE_UNITS_PER_CREDIT * credits + claimable + unpaid);
}

async function readSums({ connection }: Pick<TestLedger, 'connection'>) {
  const commitment = 'confirmed' as const;
  const accounts = await fetchAllCreditAccounts(connection, { commitment });
  const workers = await fetchAllWorkers(connection, { commitment });
  const treasury = await fetchTreasury(connection, addresses.treasury, { commitment });
  const vault = await readTokenAccount(connection, addresses.vault, commitment);
  return {
    credits: accounts.reduce(
      (sum, { data }) => sum + data.availableCredits + data.lockedCredits,
      0n,
    ),
    claimable: workers.reduce((sum, { data }) => sum + data.claimableBaseUnits, 0n),
    unpaid: treasury?.unpaidBaseUnits ?? 0n,
    vault: vault.amount,
  };
}
