import { endOnError, runUntilEnded } from '../common/shutdown.ts';
import { endAfterChecks, isCheckRequested } from '../common/startChecks.ts';
import { createStartChecks } from './checks.ts';
import { loadConfig } from './config.ts';
import { startWorker } from './start.ts';

endOnError('worker');
const config = loadConfig();
if (isCheckRequested()) await endAfterChecks(createStartChecks(config));
const { url, address, engine, shutdown } = await startWorker(config);
runUntilEnded(shutdown, { url, engine, worker_address: address });
