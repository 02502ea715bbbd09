import { endOnError, runUntilEnded } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startWorker } from './start.ts';

endOnError('worker');
const { url, address, engine, shutdown } = await startWorker(loadConfig());
runUntilEnded(shutdown, { url, engine, worker_address: address });
