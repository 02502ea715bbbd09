import { Registry } from 'prom-client';
import { createLogger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import { createSealing } from '../../common/sealing.ts';
import { startWebhooks } from '../../indexer/webhooks/start.ts';
import { SECRETS_KEY } from '../../testing/indexer/indexerProcess.ts';

// Delivers what is queued as an indexer does, in a process of its own, so that its processor time is
// the deliveries' alone: told at any message. Argument: the database.

const [databaseUrl = ''] = process.argv.slice(2);
await startWebhooks({
  pool: createPool({ databaseUrl, applicationName: 'svc-bench' }),
  databaseUrl,
  sealing: createSealing(Buffer.from(SECRETS_KEY, 'base64')),
  allowLoopback: true,
  registry: new Registry(),
  logger: createLogger({ name: 'bench', level: 'error' }),
  onFatal(error) {
    throw error;
  },
});
const before = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / 1_000);
});
// Nobody is left to be told.
process.on('disconnect', () => process.exit());
