import { ConfigError, readSetting } from '../common/config.ts';
import { createLogger } from '../common/logger.ts';
import { createShutdown, endWithParent } from '../common/shutdown.ts';
import { loadConfig, StackError } from './config.ts';
import { createProgress, describeRunning, describeWaiting, STACK_FOLDER } from './stackFile.ts';
import { startStack } from './start.ts';
import { announce, describeUnready } from './workers/firstWorker.ts';

/** Each part gets ten seconds; most end at once. */
const SHUTDOWN_TIMEOUT_MS = 40_000;

const shutdown = createShutdown({
  logger: createLogger({ name: 'stack', level: 'warn' }),
  timeoutMs: SHUTDOWN_TIMEOUT_MS,
});
const ending = new AbortController();

/** Ends everything once, after the first signal or error, or the end of database or ledger. */
async function end(exitCode: number, reason: string): Promise<void> {
  if (ending.signal.aborted) return;
  ending.abort();
  console.error(reason);
  await shutdown.run();
  process.exit(exitCode);
}

function endWithError(error: unknown): void {
  const isExplained = error instanceof StackError || error instanceof ConfigError;
  void end(1, isExplained ? error.message : String((error as Error).stack ?? error));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => void end(0, '\nEnding everything …'));
}
endWithParent();

try {
  const config = loadConfig();
  const report = createProgress(console.log);
  const { stack, workerUrls } = await startStack({
    config,
    environment: process.env,
    folder: STACK_FOLDER,
    shutdown,
    onExit: endWithError,
    onRestart: console.error,
    ending: ending.signal,
    report,
  });
  const { WORKER_UPSTREAM_URL: upstreamUrl } = config;
  const upstreamKey = readSetting('WORKER_UPSTREAM_KEY', process.env);
  const lines = { running: describeRunning(stack), waiting: describeWaiting };
  // On a cluster all workers may belong to others.
  if (workerUrls.length === 0) console.log(lines.running);
  else
    await announce({
      apiUrl: stack.baseUrl,
      explain: () => describeUnready({ workerUrls, upstreamUrl, upstreamKey }),
      report: (detail) => report('waiting', detail),
      write: console.log,
      lines,
      ending: ending.signal,
    });
} catch (error) {
  // During a shutdown this error is only a consequence, and `end` ignores it.
  endWithError(error);
}
