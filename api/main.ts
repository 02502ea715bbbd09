import { endOnError } from '../runtime/endOnError.ts';
import { endWithParent } from '../runtime/parent.ts';
import { loadConfig } from './config.ts';
import { startApi } from './startApi.ts';

endOnError('api');
const api = await startApi(loadConfig());
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
api.shutdown.onSignals();
endWithParent();
