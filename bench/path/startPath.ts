import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@solana/web3.js';
import type { Shutdown } from '../../common/shutdown.ts';
import { loadConfig } from '../../stack/config.ts';
import { startStack } from '../../stack/start.ts';
import { startProcess } from '../../testing/childProcess.ts';
import type { Target } from '../load.ts';

/** A job of the stack's model costs so many credits and locks no more. */
export const CREDITS_PER_JOB = 2;

export type Path = Awaited<ReturnType<typeof startPath>>;

/** Starts a model's server that answers at once. @returns its URL */
export async function startUpstream(shutdown: Shutdown): Promise<string> {
  const upstream = await startProcess('bench/upstream.ts', {});
  shutdown.add('upstream', async () => void (await upstream.terminate()));
  return upstream.url;
}

/**
 * The parts of `npm start` on a local ledger, before an upstream that answers at once.
 *
 * @param settings those of the parts, beside this process's own
 */
export async function startPath(shutdown: Shutdown, settings: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  shutdown.add('folder', () => rm(folder, { recursive: true }));
  // The database's own user must have access.
  await chmod(folder, 0o755);
  const onExit = (error: Error): void => {
    console.error(error.message);
    process.exitCode = 1;
    void shutdown.run().then(() => process.exit());
  };
  const upstreamUrl = await startUpstream(shutdown);
  const environment = {
    ...process.env,
    PORT: '0',
    LOG_LEVEL: 'warn',
    WORKER_UPSTREAM_URL: upstreamUrl,
    SVC_DATA_DIR: join(folder, 'data'),
    ...settings,
  };
  const startedMs = performance.now();
  const { stack } = await startStack({
    config: loadConfig(environment),
    environment,
    folder,
    shutdown,
    onExit,
    onRestart: console.error,
    ending: new AbortController().signal,
    report: () => undefined,
  });
  const { apiKey, model, rpcUrl, databaseUrl, wallet } = stack;
  return {
    bare: { url: upstreamUrl, apiKey, model } satisfies Target,
    service: { url: `${stack.baseUrl}/v1`, apiKey, model } satisfies Target,
    connection: new Connection(rpcUrl, { wsEndpoint: stack.wsUrl }),
    rpcUrl,
    databaseUrl,
    wallet,
    /** When the parts were started, in milliseconds of `performance.now()`. */
    startedMs,
  };
}
