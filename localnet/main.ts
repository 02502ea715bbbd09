import { createLogger } from '../common/logger.ts';
import { createShutdown, endOnError, runUntilEnded } from '../common/shutdown.ts';
import { endAfterChecks, isCheckRequested } from '../common/startChecks.ts';
import { loadConfig } from './config.ts';
import { startLocalnetWithEscrow, tryLocalnet } from './escrow.ts';

const SHUTDOWN_TIMEOUT_MS = 5_000;

endOnError('localnet');
const config = loadConfig();
if (isCheckRequested()) {
  await endAfterChecks([{ what: 'ledger', run: () => tryLocalnet(config) }]);
}
const { rpcUrl: url, wsUrl, close } = await startLocalnetWithEscrow(config);
const logger = createLogger({ name: 'localnet', level: 'info' });
const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
shutdown.add('localnet', close);
runUntilEnded(shutdown, { url, wsUrl });
