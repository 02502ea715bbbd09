import { createLogger } from '../common/logger.ts';
import { createShutdown, endWithParent } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startDatabase } from './database.ts';
import { databaseIn } from './dataFolder.ts';

// The embedded database has a process of its own that watches the stack: PostgreSQL itself would
// outlive a stack that was killed.
const SHUTDOWN_TIMEOUT_MS = 8_000;

const shutdown = createShutdown({
  logger: createLogger({ name: 'database', level: 'info' }),
  timeoutMs: SHUTDOWN_TIMEOUT_MS,
});
const { SVC_DATA_DIR: dataFolder } = loadConfig();
const starting = startDatabase(dataFolder ? { directory: databaseIn(dataFolder) } : {});
// Registered before it is up: a signal on the way there must not leave a server behind either.
shutdown.add('database', async () => (await starting).close());
shutdown.onSignals();
endWithParent();
const { databaseUrl } = await starting;
process.stdout.write(`${JSON.stringify({ ready: true, url: databaseUrl })}\n`);
