import { createLogger } from '../common/logger.ts';
import { createShutdown, endOnError, endWithParent } from '../common/shutdown.ts';
import { loadConfig } from './config.ts';
import { withEscrow } from './escrow.ts';
import { startLocalnet } from './start.ts';

const SHUTDOWN_TIMEOUT_MS = 5_000;

endOnError('localnet');
const config = loadConfig();
const { LOCALNET_DATA_DIR: folder, LOCALNET_PAYER_KEY: payer } = config;
const logger = createLogger({ name: 'localnet', level: 'info' });
const localnet = await startLocalnet({
  ...withEscrow({ payer: payer.publicKey, folder }),
  folder,
  host: config.LOCALNET_HOST,
  port: config.LOCALNET_PORT,
  slotMs: config.LOCALNET_SLOT_MS,
  confirmSlots: config.LOCALNET_CONFIRM_SLOTS,
  isDevelopment: config.LOCALNET_DEVELOPMENT,
});
const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
shutdown.add('localnet', localnet.close);
shutdown.onSignals();
endWithParent();
const { rpcUrl: url, wsUrl } = localnet;
process.stdout.write(`${JSON.stringify({ ready: true, url, wsUrl })}\n`);
