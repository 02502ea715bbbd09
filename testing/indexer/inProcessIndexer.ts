import { createLogger, type Logger } from '../../common/logger.ts';
import { createShutdown } from '../../common/shutdown.ts';
import type { Time } from '../../common/wait.ts';
import { loadConfig } from '../../indexer/config.ts';
import { startIndexer } from '../../indexer/start.ts';
import type { TimeLimits } from '../../indexer/timeLimits.ts';
import type { StartedProcess } from '../childProcess.ts';

/** An indexer for tests, in its own process or in the test's. */
export type TestIndexer = Pick<StartedProcess, 'url' | 'signal' | 'terminate'>;

/** No bound of its own: an end that hangs shows as the test's time-out. */
const SHUTDOWN_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Starts the indexer inside this process, which is faster than a second Node.
 *
 * @param environment the environment that its own process would get
 * @param limits those that differ from the published ones
 * @param parts.logger by default one for the process's standard error
 */
export async function startIndexerInProcess(
  environment: Record<string, string>,
  limits: Partial<TimeLimits> = {},
  parts: { logger?: Logger; time?: Time } = {},
): Promise<TestIndexer> {
  const config = loadConfig(environment);
  const { logger = createLogger({ name: 'indexer', level: config.LOG_LEVEL }) } = parts;
  const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
  let fatal: Error | undefined;
  const onFatal = (error: Error) => {
    fatal ??= error;
  };
  const starting = startIndexer({ ...parts, config, logger, shutdown, onFatal, limits });
  const { url } = await starting.catch(async (error: unknown) => {
    await shutdown.run();
    throw error;
  });
  return {
    url,
    signal(name) {
      throw new Error(`${name} needs an indexer that is a process of its own`);
    },
    async terminate() {
      const isClean = await shutdown.run();
      if (fatal) throw new Error('The indexer gave up', { cause: fatal });
      return isClean ? 0 : 1;
    },
  };
}
