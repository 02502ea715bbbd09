import { ConfigError } from '../../common/config.ts';
import { isLoopbackHost } from '../../common/net/addressGuard.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';

const NAME = 'SVC_CONSOLE_DEVELOPMENT_WALLET_URL';

/**
 * Lets pages offer the development wallet only on this machine, with a ledger that answers the
 * methods of development. There anybody can make money anyway.
 *
 * @throws ConfigError anywhere else
 */
export async function assertDevelopment(options: {
  walletUrl: string | undefined;
  host: string;
  publicUrl: string;
  rpc: Pick<Rpc, 'ask'>;
}): Promise<void> {
  const { walletUrl, host, publicUrl, rpc } = options;
  if (walletUrl === undefined) return;
  const hosts = [host, ...[publicUrl, walletUrl].map((url) => new URL(url).hostname)];
  const foreign = hosts.find((name) => !isLoopbackHost(name));
  if (foreign !== undefined) {
    throw new ConfigError(`${NAME}: refused beyond loopback, and ${foreign} is none`);
  }
  try {
    // Advances nothing; a ledger that was not started for development refuses to.
    await rpc.ask('localnet_advanceTime', [0], () => undefined);
  } catch {
    throw new ConfigError(`${NAME}: refused, since the ledger is not for development`);
  }
}
