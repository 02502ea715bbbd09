import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { endWithParent } from '../../common/shutdown.ts';
import { createDoubledSender } from './doubledSender.ts';

// The API as it is, but for the ledger: everything it sends counts as confirmed at once.

const config = loadConfig();
const api = await startApi(config, { createSender: createDoubledSender });
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
