import { endOnError, runUntilEnded } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startApi } from './start.ts';

endOnError('api');
const { url, shutdown } = await startApi(loadConfig());
runUntilEnded(shutdown, { url });
