import { isLoopbackHost } from '../common/net/addressGuard.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import type { Shutdown } from '../common/shutdown.ts';
import { getGenesisHash } from '../programs/client/rpc/methods.ts';
import { ensureKey } from './apiKey.ts';
import { type Child, keepRunning, startChild, untilReady } from './child.ts';
import { allowsLoopback, type StackConfig, StackError } from './config.ts';
import { startPackagesBuild, startPagesBuild } from './console/builds.ts';
import { startDevelopmentWallet } from './console/developmentWallet.ts';
import { recordDatabase, removeLeftoverDatabase } from './databaseRecord.ts';
import { keyIn, openFolder } from './dataFolder.ts';
import type { Deployment } from './developmentLedger.ts';
import { claimFolder } from './folderLock.ts';
import { checkDatabase, prepareLocalMirror } from './mirrorDatabase.ts';
import { openLedger } from './openLedger.ts';
import { environmentFor, PARTS, type Part } from './parts.ts';
import {
  type Report,
  removeStackFile,
  type StackDescription,
  writeStackFile,
} from './stackFile.ts';

const MIRROR_TIMEOUT_MS = 60_000;
/** A model of the cheapest tier. */
const TRIAL_MODEL = 'llama-3.2-3b-instruct';

interface StackOptions {
  config: StackConfig;
  /** The user's settings; every part gets those that it reads. */
  environment: NodeJS.ProcessEnv;
  /** For the description and the logs. */
  folder: string;
  /** Gets each part before it starts, so that it may run at any time. */
  shutdown: Shutdown;
  report: Report;
  /** Called when database or ledger end later; every other part is started again. */
  onExit: (error: StackError) => void;
  /** Gets one sentence for each exit and each restart of such a part. */
  onRestart: (sentence: string) => void;
  /** Aborts when everything is about to end; after that no part is started again. */
  ending: AbortSignal;
}

/**
 * Starts the whole service, each part in its own process, and describes it in `folder`.
 *
 * @returns its description, and where its own workers listen
 * @throws StackError for errors that the user can correct
 */
export async function startStack(
  options: StackOptions,
): Promise<{ stack: StackDescription; workerUrls: readonly string[] }> {
  const { config, environment, folder, shutdown, report, ending } = options;
  if (config.SVC_DATA_DIR) await openFolder('SVC_DATA_DIR', config.SVC_DATA_DIR);
  const listen = { host: config.HOST, port: config.PORT };
  const logFolder = await claimFolder({ folder, listen, shutdown, report });
  const start = createStarter(options, logFolder);

  const pages = startPagesBuild();
  shutdown.add('pages', pages.stop);
  const startLocalnet = (settings: NodeJS.ProcessEnv) => start('ledger', settings);
  const opening = openLedger({ config, environment, startLocalnet });
  // A new database takes longer than the ledger, which is all that the workers need.
  const [databaseUrl, deployment, pagesFault, workerUrls] = await Promise.all([
    openDatabase(options, start),
    opening,
    pages.fault,
    opening.then((opened) => startWorkers(opened, start)),
  ]);
  const { rpcUrl, wsUrl, wallet, isOwnWallet } = deployment;
  report('database', new URL(databaseUrl).host);
  reportLedger(options, deployment);
  await prepareMirror(config, { databaseUrl, rpcUrl });

  const shared = {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    SVC_SECRETS_KEY: config.SVC_SECRETS_KEY ?? deployment.secretsKey,
    SVC_ALLOW_LOOPBACK: String(allowsLoopback(config)),
  };
  await startIndexer(options, start, { ...shared, ...deployment.indexerEnvironment });
  const keyPath = config.SVC_DATA_DIR && keyIn(config.SVC_DATA_DIR);
  const apiKey =
    config.SVC_API_KEY ?? (await ensureKey({ databaseUrl, wallet, isOwnWallet, keyPath }));
  const packages = startPackagesBuild();
  shutdown.add('packages', packages.stop);
  const { baseUrl, publicUrl } = await startApi(options, start, {
    deployment,
    settings: { ...shared, ...(packages.id && { SVC_PACKAGES_BUILD_PID: `${packages.id}` }) },
  });
  void packages.fault.then((fault) => {
    if (ending.aborted) return;
    report('packages', fault ? `could not be built: ${fault}` : `${publicUrl}/packages/`);
  });
  const consoleUrl = pagesFault === undefined ? `${publicUrl}/console` : null;
  report('console', consoleUrl ?? `not served: ${pagesFault}`);
  const loopback = allowsLoopback(config)
    ? 'allowed for workers and webhooks, since this is for development'
    : 'refused for workers and webhooks (see SVC_ALLOW_LOOPBACK)';
  report('loopback', loopback);

  const stack: StackDescription = {
    ...{ baseUrl, apiKey, model: TRIAL_MODEL, rpcUrl, wsUrl },
    programId: config.SVC_PROGRAM_ID.toBase58(),
    ...{ databaseUrl, secretsKey: shared.SVC_SECRETS_KEY, wallet, consoleUrl, pid: process.pid },
  };
  shutdown.add('description', () => removeStackFile(folder));
  await writeStackFile(folder, stack);
  return { stack, workerUrls };
}

/** Starts a part with these settings besides the user's. @returns the address where it listens */
type StartPart = (
  part: keyof typeof PARTS,
  settings: NodeJS.ProcessEnv,
  name?: string,
) => Promise<string>;

function createStarter(
  { config, environment, shutdown, onExit, onRestart, ending }: StackOptions,
  logFolder: string,
): StartPart {
  return (part, settings, name = part) => {
    // What starts once everything ends would be left behind.
    ending.throwIfAborted();
    const { script, portSetting }: Part = PARTS[part];
    const startAt = (url?: string): Child => {
      const port = url && new URL(url).port;
      return startChild({
        name,
        script,
        logFolder,
        isRestart: url !== undefined,
        environment: {
          ...environmentFor(PARTS[part], environment),
          ...settings,
          ...(portSetting && port && { [portSetting]: port }),
        },
      });
    };
    if (portSetting) {
      const { ready, stop } = keepRunning({ name, startAt, ending, onRestart });
      shutdown.add(name, stop);
      return ready;
    }
    const { ready, exited, stop } = startAt();
    shutdown.add(name, stop);
    // The caller gets the error of a start.
    void ready.then(
      async () => {
        const { how, lastLines } = await exited;
        onExit(new StackError(`The ${name} ${how}. ${lastLines}\n${describeLoss(config)}`));
      },
      () => undefined,
    );
    return ready;
  };
}

async function openDatabase(
  { config, folder, shutdown }: StackOptions,
  start: StartPart,
): Promise<string> {
  if (config.DATABASE_URL) {
    await checkDatabase(config.DATABASE_URL);
    return config.DATABASE_URL;
  }
  // If only the process that holds PostgreSQL was killed, PostgreSQL still runs.
  shutdown.add('leftover of the database', () => removeLeftoverDatabase(folder));
  const url = await start('database', {});
  await recordDatabase(folder, { databaseUrl: url, isKept: config.SVC_DATA_DIR !== undefined });
  return url;
}

/** Starts the workers of a ledger, and registers where they listen. */
function startWorkers({ rpcUrl, workers }: Deployment, start: StartPart): Promise<string[]> {
  return Promise.all(
    workers.map(async (worker, index) => {
      const settings = { SOLANA_RPC_URL: rpcUrl, ...worker.environment };
      const url = await start('worker', settings, `worker-${index + 1}`);
      await worker.register(url);
      return url;
    }),
  );
}

function reportLedger(
  { config, environment, report }: StackOptions,
  { rpcUrl, workers }: Deployment,
): void {
  const seed = config.SOLANA_RPC_URL ? undefined : environment.LOCALNET_UNRELIABLE;
  report('ledger', seed ? `${rpcUrl}, unreliable by seed ${seed}` : rpcUrl);
  const engine = config.WORKER_UPSTREAM_URL ?? 'the built-in engine (see WORKER_UPSTREAM_URL)';
  report('workers', `${workers.length}, answering from ${engine}`);
}

/** Without a data folder the ledger is temporary, and so is its mirror in an external database. */
async function prepareMirror(
  { DATABASE_URL, SVC_DATA_DIR, SOLANA_RPC_URL }: StackConfig,
  { databaseUrl, rpcUrl }: { databaseUrl: string; rpcUrl: string },
): Promise<void> {
  if (!DATABASE_URL || (SVC_DATA_DIR ?? SOLANA_RPC_URL) !== undefined) return;
  const genesisHash = await getGenesisHash(connectPooledRpc({ url: rpcUrl }));
  await prepareLocalMirror({ databaseUrl, genesisHash });
}

/** Starts the indexer, and waits until the mirror shows everything that was set up. */
async function startIndexer(
  { config, report }: StackOptions,
  start: StartPart,
  settings: NodeJS.ProcessEnv,
): Promise<void> {
  const url = await start('indexer', {
    INDEXER_PORT: '0',
    // Half a minute: in development the local ledger's slots are forty times shorter than a cluster's.
    ...(hasShortSlots(config) && { INDEXER_LAG_SLOTS_MAX: '6000' }),
    ...settings,
  });
  await untilReady(url, AbortSignal.timeout(MIRROR_TIMEOUT_MS));
  report('indexer', url);
}

/** @returns where it listens, and the address under which its pages are opened */
async function startApi(
  { config, environment, shutdown, report }: StackOptions,
  start: StartPart,
  { deployment, settings }: { deployment: Deployment; settings: NodeJS.ProcessEnv },
): Promise<{ baseUrl: string; publicUrl: string }> {
  const isLocalLedger = config.SOLANA_RPC_URL === undefined;
  // Elsewhere signatures move what is worth something, or others could ask for them.
  const developmentWallet =
    isLocalLedger && isLoopbackHost(config.HOST)
      ? await startDevelopmentWallet(deployment.developmentAccounts)
      : undefined;
  if (developmentWallet) shutdown.add('development wallet', developmentWallet.close);
  const baseUrl = await start('api', {
    ...(isLocalLedger && { SVC_CONSOLE_RPC_URL: deployment.rpcUrl }),
    ...settings,
    ...deployment.apiEnvironment,
    ...(environment.SVC_MODEL_CARDS_DIR && {
      SVC_MODEL_CARDS_DIR: environment.SVC_MODEL_CARDS_DIR,
    }),
    ...(developmentWallet && { SVC_CONSOLE_DEVELOPMENT_WALLET_URL: developmentWallet.url }),
  });
  const publicUrl = environment.PUBLIC_URL || baseUrl;
  developmentWallet?.serveFor(publicUrl);
  report('api', baseUrl);
  return { baseUrl, publicUrl };
}

const hasShortSlots = ({
  SOLANA_RPC_URL: rpcUrl,
  LOCALNET_PROFILE: profile,
}: StackConfig): boolean => rpcUrl === undefined && profile === 'development';

/** What the end of database or ledger means for the data, and what to do. */
function describeLoss({ SVC_DATA_DIR, SOLANA_RPC_URL, DATABASE_URL }: StackConfig): string {
  const loss =
    SVC_DATA_DIR !== undefined
      ? `Nothing confirmed or committed is lost: it is in ${SVC_DATA_DIR}, and the next start recovers it.`
      : SOLANA_RPC_URL !== undefined
        ? 'The database was temporary: API keys and webhooks are lost. Credits and jobs are on the ledger.'
        : DATABASE_URL !== undefined
          ? 'The ledger was temporary: its data is lost. SVC_DATA_DIR would keep it.'
          : 'Database and ledger were temporary: their data is lost. SVC_DATA_DIR would keep it.';
  return `Everything else ends now. ${loss} Run npm start again.`;
}
