import { createLogger } from '../../../common/logger.ts';
import { createShutdown, endWithParent } from '../../../common/shutdown.ts';
import { startServer } from './startServer.ts';

/**
 * The database server of a test run, in its own process: when the run is killed, this process lives
 * long enough to stop the server.
 */
const CLOSING_MS_MAX = 10_000;

const { DATABASE_URL: givenUrl, TEST_DATABASE_PREFIX: prefix } = process.env;
if (!prefix) throw new Error('TEST_DATABASE_PREFIX is missing');

const logger = createLogger({ name: 'test databases', level: 'warn' });
const shutdown = createShutdown({ logger, timeoutMs: CLOSING_MS_MAX });
const starting = startServer({ givenUrl, prefix });
shutdown.add('server', async () => (await starting).close());
shutdown.onSignals();
endWithParent();

// A killed run no longer reads the output, which must not prevent the server's end.
process.stdout.on('error', () => undefined);
const { serverUrl } = await starting;
process.stdout.write(`${JSON.stringify({ url: serverUrl })}\n`);
// Without a child process, as with a given server, this process would end.
setInterval(() => undefined, 60_000);
