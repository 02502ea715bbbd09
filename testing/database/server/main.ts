import { createLogger } from '../../../common/logger.ts';
import { createShutdown, endWithParent } from '../../../common/shutdown.ts';
import { startServer } from './startServer.ts';

/**
 * The database server of a test run, as a process: where the run is killed, this one is left for
 * long enough to take the server away.
 */
const CLOSING_MS_MAX = 10_000;

const { DATABASE_URL: givenUrl, SVC_TEST_DATABASE_PREFIX: prefix } = process.env;
if (!prefix) throw new Error('SVC_TEST_DATABASE_PREFIX is missing');

const logger = createLogger({ name: 'test databases', level: 'warn' });
const shutdown = createShutdown({ logger, timeoutMs: CLOSING_MS_MAX });
const starting = startServer({ givenUrl, prefix });
shutdown.add('server', async () => (await starting).close());
shutdown.onSignals();
endWithParent();

// Of a run that was killed nobody reads on, which must not keep the server from being closed.
process.stdout.on('error', () => undefined);
const { serverUrl } = await starting;
process.stdout.write(`${JSON.stringify({ url: serverUrl })}\n`);
// A given server is no child that would keep this process running.
setInterval(() => undefined, 60_000);
