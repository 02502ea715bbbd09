import { createLogger } from '../common/logger.ts';
import { createShutdown, endOnError, runUntilEnded } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { startLocalnetWithEscrow } from './escrow.ts';

const SHUTDOWN_TIMEOUT_MS = 5_000;

endOnError('localnet');
const { rpcUrl: url, wsUrl, close } = await startLocalnetWithEscrow(loadConfig());
const logger = createLogger({ name: 'localnet', level: 'info' });
const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
shutdown.add('localnet', close);
runUntilEnded(shutdown, { url, wsUrl });
