import { createLogger } from '../common/logger.ts';
import { createShutdown, endWithParent } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startDatabase } from './database.ts';
import { databaseIn } from './dataFolder.ts';

// The embedded database has its own process, which watches the stack: PostgreSQL itself would survive
// a killed stack.
const SHUTDOWN_TIMEOUT_MS = 8_000;

const shutdown = createShutdown({
  logger: createLogger({ name: 'database', level: 'info' }),
  timeoutMs: SHUTDOWN_TIMEOUT_MS,
});
const { SVC_DATA_DIR: dataFolder } = loadConfig();
const starting = startDatabase(dataFolder ? { directory: databaseIn(dataFolder) } : {});
// Registered before the start ends, so that a signal during the start leaves no server behind.
shutdown.add('database', async () => (await starting).close());
shutdown.onSignals();
endWithParent();
const { databaseUrl, exited } = await starting.catch(({ message }: Error) => {
  // The stack shows the last lines of this log: PostgreSQL's words, and no stack of ours.
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
void exited.then(async (words) => {
  process.stderr.write(`${words}\n`);
  await shutdown.run();
  process.exit(1);
});
process.stdout.write(`${JSON.stringify({ ready: true, url: databaseUrl })}\n`);
