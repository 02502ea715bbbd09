import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Connection } from '@solana/web3.js';
import { createLedgerClock, createSender } from '../programs/client/sender/index.ts';
import { createLogger } from '../runtime/logger.ts';
import { endWithParent } from '../runtime/parent.ts';
import { createPool } from '../runtime/postgres.ts';
import { createShutdown } from '../runtime/shutdown.ts';
import { loadConfig } from './config.ts';
import { createIndexer } from './indexer.ts';
import { createKeepers } from './keeper/createKeepers.ts';
import { createMetrics } from './metrics.ts';
import { migrate } from './migrate.ts';
import { createStatusServer } from './server.ts';
import { websocketUrlOf } from './source/websocketUrl.ts';

const SHUTDOWN_TIMEOUT_MS = 10_000;

const config = loadConfig();
const { SVC_PROGRAM_ID: programId, SVC_COMMITMENT: commitment } = config;
const logger = createLogger({ name: 'indexer', level: config.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
shutdown.onSignals();
endWithParent();

const pool = createPool({ databaseUrl: config.DATABASE_URL, applicationName: 'svc-indexer' });
// An idle connection that breaks is replaced; whoever uses one learns of it by its own query.
pool.on('error', ({ message }) => {
  logger.warn({ msg: 'Lost an idle connection', reason: message });
});
shutdown.add('database', () => pool.end());
await migrate(pool);

const rpcUrl = config.SOLANA_RPC_URL;
const wsUrl = config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl);
const connection = new Connection(rpcUrl, { commitment, wsEndpoint: wsUrl });
const clock = createLedgerClock({ connection });
shutdown.add('ledger clock', clock.close);
const sender = createSender({ connection, feePayers: [config.SVC_CRANK_KEY], commitment, logger });
shutdown.add('sender', sender.close);

const metrics = createMetrics();
const { keepers, close } = createKeepers({
  ...{ programId, sender, clock, logger, database: pool },
  onResult: metrics.duty,
});
shutdown.add('keepers', close);

const indexer = createIndexer({
  ...{ pool, rpcUrl, wsUrl, programId, commitment, keepers, logger, metrics },
  onFatal(error) {
    logger.fatal({ msg: 'Stopped at an error that needs a person', err: error });
    void shutdown.run().then(() => process.exit(1));
  },
});
shutdown.add('indexer', indexer.stop);

const server = createStatusServer(indexer, metrics);
server.listen(config.INDEXER_PORT, config.INDEXER_HOST);
await once(server, 'listening');
shutdown.add('status server', () => void server.close());
indexer.start();
const { address: host, port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ ready: true, url: `http://${host}:${port}` })}\n`);
