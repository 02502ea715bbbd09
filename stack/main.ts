import { ConfigError } from '../common/config.ts';
import { createLogger } from '../common/logger.ts';
import { createShutdown, endWithParent } from '../common/shutdown.ts';
import { loadConfig, StackError } from './config.ts';
import { startPackagesBuild } from './console/builds.ts';
import { createProgress, describeRunning, STACK_FOLDER } from './stackFile.ts';
import { startStack } from './start.ts';

/** Each part gets ten seconds; most end at once. */
const SHUTDOWN_TIMEOUT_MS = 40_000;

const shutdown = createShutdown({
  logger: createLogger({ name: 'stack', level: 'warn' }),
  timeoutMs: SHUTDOWN_TIMEOUT_MS,
});
const ending = new AbortController();

/** Ends everything once, after the first signal, error, or death of database or ledger. */
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
  const stack = await startStack({
    config: loadConfig(),
    environment: process.env,
    folder: STACK_FOLDER,
    shutdown,
    onDeath: endWithError,
    onRestart: console.error,
    ending: ending.signal,
    report: createProgress(console.log),
  });
  console.log(describeRunning(stack));
  const packages = startPackagesBuild();
  shutdown.add('packages', packages.stop);
  const fault = await packages.fault;
  if (fault && !ending.signal.aborted) console.error(`/packages/ serves none: ${fault}`);
} catch (error) {
  // During a shutdown this error is only a consequence, and `end` ignores it.
  endWithError(error);
}
