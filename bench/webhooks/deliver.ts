import { Registry } from 'prom-client';
import { createLogger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import { createSealing } from '../../common/sealing.ts';
import { startWebhooks } from '../../indexer/webhooks/start.ts';
import { SECRETS_KEY } from '../../testing/indexer/indexerProcess.ts';

// Delivers queued events as an indexer does, in its own process, so that its processor time is that of
// the deliveries. It reports that time at any message. Argument: the database.

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
// The parent process has ended.
process.on('disconnect', () => process.exit());
