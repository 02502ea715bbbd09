import { endOnError, endWithParent } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startApi } from './start.ts';

endOnError('api');
const api = await startApi(loadConfig());
// Before it says that it is ready: whoever hears that may end it in the same moment.
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
