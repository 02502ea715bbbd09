import { endOnError, runUntilEnded } from '../common/shutdown.ts';
import { endAfterChecks, isCheckRequested } from '../common/startChecks.ts';
import { createStartChecks } from './checks.ts';
import { loadConfig } from './config.ts';
import { startApi } from './start.ts';

endOnError('api');
const config = loadConfig();
if (isCheckRequested()) await endAfterChecks(createStartChecks(config));
const { url, shutdown } = await startApi(config);
runUntilEnded(shutdown, { url });
