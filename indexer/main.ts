import { createLogger } from '../common/logger.ts';
import { createShutdown, endOnError, endWithParent } from '../common/shutdown.ts';
import { endAfterChecks, isCheckRequested } from '../common/startChecks.ts';
import { createStartChecks } from './checks.ts';
import { loadConfig } from './config.ts';
import { startIndexer } from './start.ts';

const SHUTDOWN_TIMEOUT_MS = 10_000;

endOnError('indexer');
const config = loadConfig();
if (isCheckRequested()) await endAfterChecks(createStartChecks(config));
const logger = createLogger({ name: 'indexer', level: config.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
// Before it starts: while it waits for the database it ends like at any other time.
shutdown.onSignals();
endWithParent();

const { url } = await startIndexer({
  config,
  logger,
  shutdown,
  onFatal(error) {
    // An error of our own is a sentence, which names the setting.
    const cause = error.cause === undefined ? { reason: error.message } : { err: error };
    logger.fatal({ msg: 'Stopped at an error that needs a person', ...cause });
    void shutdown.run().then(() => process.exit(1));
  },
});
process.stdout.write(`${JSON.stringify({ ready: true, url })}\n`);
