import pg from 'pg';
import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { endWithParent } from '../../common/shutdown.ts';
import { MIRRORING, SETTLED } from './processes.ts';
import { createStubbedSender } from './stubbedSender.ts';

// The API with a stubbed ledger, which confirms everything at once.

const config = loadConfig();
const { DATABASE_URL: connectionString } = config;
const hints = new pg.Pool({ connectionString, application_name: MIRRORING, max: 1 });
/** The stubbed ledger announces a settlement to its indexer before the API does. */
const announce = (job: string): void =>
  void hints.query({
    name: 'announce',
    text: `select pg_notify('${SETTLED}', $1)`,
    values: [job],
  });
const api = await startApi(config, { createSender: () => createStubbedSender(announce) });
api.shutdown.onSignals();
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: api.url })}\n`);
