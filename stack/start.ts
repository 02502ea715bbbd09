import { Connection } from '@solana/web3.js';
import type { Shutdown } from '../common/shutdown.ts';
import { startChild, untilReady } from './child.ts';
import { allowsLoopback, type StackConfig, type StackError } from './config.ts';
import { keyIn } from './dataFolder.ts';
import { makeKey } from './key.ts';
import { forgetDatabase, recordDatabase } from './leftovers.ts';
import { checkDatabase, prepareThrowawayMirror } from './mirrorDatabase.ts';
import { openLedger } from './openLedger.ts';
import { environmentFor, PARTS } from './parts.ts';
import { removeStackFile, type Say, type StackDescription, writeStackFile } from './stackFile.ts';
import { takeFolder } from './takeFolder.ts';

const MIRROR_TIMEOUT_MS = 60_000;
/** One of the cheapest tier. */
const TRIAL_MODEL = 'llama-3.2-3b-instruct';

/**
 * Starts the whole service, each part a process of its own, and describes it in `folder`.
 *
 * @param environment the user's settings, of which every part sees those that it reads
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
  const listen = { host: config.HOST, port: config.PORT };
  const logFolder = await takeFolder({ folder, listen, shutdown, say });

  function start(
    part: keyof typeof PARTS,
    settings: NodeJS.ProcessEnv,
    name: string = part,
  ): Promise<string> {
    const child = startChild({
      name,
      script: PARTS[part].script,
      logFolder,
      onDeath,
      environment: { ...environmentFor(PARTS[part], environment), ...settings },
    });
    shutdown.add(name, child.stop);
    return child.ready;
  }

  async function openDatabase(): Promise<string> {
    if (config.DATABASE_URL) {
      await checkDatabase(config.DATABASE_URL);
      return config.DATABASE_URL;
    }
    shutdown.add('record of the database', () => forgetDatabase(folder));
    const url = await start('database', {});
    await recordDatabase(folder, { databaseUrl: url, isKept: config.SVC_DATA_DIR !== undefined });
    return url;
  }

  const [databaseUrl, deployment] = await Promise.all([
    openDatabase(),
    openLedger({
      config,
      environment,
      startLocalnet: (settings) => start('ledger', settings),
    }),
  ]);
  const { rpcUrl, wsUrl, wallet, isOwnWallet, workers } = deployment;
  const allowLoopback = allowsLoopback(config);
  const everybody = {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    SVC_SECRETS_KEY: config.SVC_SECRETS_KEY ?? deployment.secretsKey,
    SVC_ALLOW_LOOPBACK: String(allowLoopback),
  };
  say('database', new URL(databaseUrl).host);
  say('ledger', rpcUrl);
  // Without a folder the ledger is gone at the end, and what a database of its own shows of it.
  const isLedgerKept = (config.SVC_DATA_DIR ?? config.SOLANA_RPC_URL) !== undefined;
  if (config.DATABASE_URL && !isLedgerKept) {
    const genesisHash = await new Connection(rpcUrl).getGenesisHash();
    await prepareThrowawayMirror({ databaseUrl, genesisHash });
  }

  await Promise.all(
    workers.map(async (worker, index) => {
      const settings = { SOLANA_RPC_URL: rpcUrl, ...worker.environment };
      await worker.register(await start('worker', settings, `worker-${index + 1}`));
    }),
  );
  const engine = config.WORKER_UPSTREAM_URL ?? 'the built-in engine (see WORKER_UPSTREAM_URL)';
  say('workers', `${workers.length}, answering from ${engine}`);

  const indexerUrl = await start('indexer', {
    ...everybody,
    INDEXER_PORT: '0',
    // Half a minute: the local ledger's slots are eighty times shorter than a cluster's.
    ...(!config.SOLANA_RPC_URL && { INDEXER_LAG_SLOTS_MAX: '6000' }),
    ...deployment.indexerEnvironment,
  });
  // The API must not come up before everything that was set up can be seen.
  await untilReady(indexerUrl, MIRROR_TIMEOUT_MS);
  say('indexer', indexerUrl);

  const keyPath = config.SVC_DATA_DIR && keyIn(config.SVC_DATA_DIR);
  const apiKey =
    config.SVC_API_KEY ?? (await makeKey({ databaseUrl, wallet, isOwnWallet, keyPath }));
  const baseUrl = await start('api', {
    ...everybody,
    ...deployment.apiEnvironment,
  });
  say('api', baseUrl);
  const loopback = allowLoopback
    ? 'allowed for workers and webhooks, since this is for development'
    : 'refused for workers and webhooks (see SVC_ALLOW_LOOPBACK)';
  say('loopback', loopback);

  const stack: StackDescription = {
    baseUrl,
    apiKey,
    model: TRIAL_MODEL,
    rpcUrl,
    wsUrl,
    programId: config.SVC_PROGRAM_ID.toBase58(),
    databaseUrl,
    wallet,
    consoleUrl: null,
    pid: process.pid,
  };
  shutdown.add('description', () => removeStackFile(folder));
  await writeStackFile(folder, stack);
  return stack;
}
