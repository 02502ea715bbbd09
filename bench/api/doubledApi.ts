import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/startApi.ts';
import { endWithParent } from '../../runtime/parent.ts';
import { createPool } from '../../runtime/postgres.ts';
import { createDoubledSender } from './doubledSender.ts';

// The API as it is, but for the ledger: everything it sends counts as confirmed at once.

const config = loadConfig();
const pool = createPool({ databaseUrl: config.DATABASE_URL, applicationName: 'bench-double' });
const api = await startApi(config, { createSender: () => createDoubledSender(pool) });
api.shutdown.add('double', () => pool.end());
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
