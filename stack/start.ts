import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shutdown } from '../runtime/shutdown.ts';
import { startChild } from './child.ts';
import { claimFolder } from './claim.ts';
import type { StackConfig } from './config.ts';
import type { DeployedWorker } from './deployment.ts';
import type { StackError } from './errors.ts';
import { makeKey } from './key.ts';
import { forgetDatabase, recordDatabase, removeLeftoverDatabase } from './leftovers.ts';
import { openLedger } from './openLedger.ts';
import { expectFreePort } from './port.ts';
import type { Say } from './progress.ts';
import { untilReady } from './ready.ts';
import {
  readStackFile,
  removeStackFile,
  type StackDescription,
  writeStackFile,
} from './stackFile.ts';
import { prepareThrowawayMirror } from './throwawayMirror.ts';

/** A killed stack's API finishes its answers before it lets go of its port. */
const DEAD_STACK_PATIENCE_MS = 25_000;
const MIRROR_TIMEOUT_MS = 60_000;
/** The cheapest one of a wide window: made for trying the service out. */
const TRIAL_MODEL = 'llama-3.2-3b-instruct';

/**
 * Starts the whole service, each part but the embedded ledger a process of its own, and describes
 * it in `folder`.
 *
 * @param environment the user's settings, which every part sees
 * @param shutdown is told of everything before it starts, so that it may run at any time
 * @param onDeath called when a part ends unasked later
 * @throws StackError for what the user can put right
 */
export async function startStack(options: {
  config: StackConfig;
  environment: NodeJS.ProcessEnv;
  folder: string;
  shutdown: Shutdown;
  say: Say;
  onDeath: (error: StackError) => void;
}): Promise<StackDescription> {
  const { config, environment, folder, shutdown, say, onDeath } = options;
  const logFolder = join(folder, 'logs');

  const start = (name: string, script: string, settings: NodeJS.ProcessEnv): Promise<string> => {
    const child = startChild({
      ...{ name, script, logFolder, onDeath },
      environment: { ...environment, ...settings },
    });
    shutdown.add(name, child.stop);
    return child.ready;
  };

  async function openDatabase(): Promise<string> {
    if (config.DATABASE_URL) return config.DATABASE_URL;
    shutdown.add('record of the database', () => forgetDatabase(folder));
    const url = await start('database', 'stack/databaseMain.ts', {});
    await recordDatabase(folder, url);
    return url;
  }

  async function startWorker(worker: DeployedWorker, index: number): Promise<void> {
    const settings = { SOLANA_RPC_URL: rpcUrl, ...worker.environment };
    await worker.register(await start(`worker-${index + 1}`, 'worker/main.ts', settings));
  }

  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  const claim = await claimFolder(folder);
  shutdown.add('claim', claim.release);
  const isAfterKilledStack = readStackFile(folder) !== undefined;
  if (isAfterKilledStack) say('cleanup', 'after a stack that was killed');
  await removeStackFile(folder);
  await removeLeftoverDatabase(folder);
  await expectFreePort({
    host: config.HOST,
    port: config.PORT,
    patienceMs: isAfterKilledStack ? DEAD_STACK_PATIENCE_MS : 0,
  });

  const [databaseUrl, deployment] = await Promise.all([
    openDatabase(),
    openLedger({ config, environment, shutdown }),
  ]);
  const { rpcUrl, wsUrl, wallet } = deployment;
  say('database', new URL(databaseUrl).host);
  say('ledger', rpcUrl);
  if (config.DATABASE_URL && !config.SOLANA_RPC_URL) await prepareThrowawayMirror(databaseUrl);

  await Promise.all(deployment.workers.map(startWorker));
  const engine = config.WORKER_UPSTREAM_URL ?? 'the built-in engine (see WORKER_UPSTREAM_URL)';
  say('workers', `${deployment.workers.length}, answering from ${engine}`);

  const everybody = {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
  };
  const indexerUrl = await start('indexer', 'indexer/main.ts', {
    ...everybody,
    INDEXER_PORT: '0',
    ...deployment.indexerEnvironment,
  });
  await untilReady(indexerUrl, MIRROR_TIMEOUT_MS);
  say('indexer', indexerUrl);

  const apiKey =
    config.SVC_API_KEY ??
    (await makeKey({
      ...{ databaseUrl, wallet },
      isOwnWallet: environment.SVC_WALLET === undefined,
    }));
  const baseUrl = await start('api', 'api/main.ts', {
    ...everybody,
    SVC_ALLOW_LOOPBACK: 'true',
    ...deployment.apiEnvironment,
  });
  say('api', baseUrl);

  const stack: StackDescription = {
    ...{ baseUrl, apiKey, model: TRIAL_MODEL, rpcUrl, wsUrl },
    programId: config.SVC_PROGRAM_ID,
    ...{ databaseUrl, wallet, consoleUrl: null, pid: process.pid },
  };
  shutdown.add('description', () => removeStackFile(folder));
  await writeStackFile(folder, stack);
  return stack;
}
