import pg from 'pg';
import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { endWithParent } from '../../common/shutdown.ts';
import { createDoubledSender } from './doubledSender.ts';
import { MIRRORING } from './processes.ts';

// The API as it is, but for the ledger: everything it sends counts as confirmed at once.

const config = loadConfig();
const { DATABASE_URL: connectionString } = config;
const hints = new pg.Pool({ connectionString, application_name: MIRRORING, max: 1 });
/** A ledger that confirms a settlement tells its indexer, before the API would. */
const announce = (signature: string): void =>
  void hints.query({
    name: 'announce',
    text: `select pg_notify('ledger_hint', $1)`,
    values: [signature],
  });
const api = await startApi(config, { createSender: () => createDoubledSender(announce) });
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
