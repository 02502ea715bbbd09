import { Connection, type Keypair } from '@solana/web3.js';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import type { Shutdown } from '../runtime/shutdown.ts';
import { describeCluster } from './cluster.ts';
import type { StackConfig } from './config.ts';
import { keepAuthority } from './dataFolder.ts';
import type { Deployment } from './deployment.ts';
import { setUpDevelopmentLedger } from './developmentLedger.ts';
import { StackError } from './errors.ts';
import { startLedger } from './ledger.ts';

/**
 * Finds the ledger to work on: the embedded one, a development ledger that SOLANA_RPC_URL and
 * SVC_AUTHORITY_KEY let the stack set up, or a cluster where the service is deployed already.
 *
 * @param input.onDeath called when the embedded ledger ends unasked later
 * @throws StackError when keys are missing, no embedded ledger exists for this platform or none
 *   comes up, or another program is named than the one that is set up
 */
export async function openLedger(input: {
  config: StackConfig;
  environment: NodeJS.ProcessEnv;
  shutdown: Shutdown;
  onDeath: (error: StackError) => void;
}): Promise<Deployment> {
  const { config, environment, shutdown, onDeath } = input;
  const { SOLANA_RPC_URL: rpcUrl, SVC_AUTHORITY_KEY: authorityKey } = config;
  if (!rpcUrl || authorityKey) expectPublishedProgram(config);
  if (!rpcUrl) {
    const { SVC_DATA_DIR: dataFolder } = config;
    const payer = dataFolder ? await keepAuthority(dataFolder) : undefined;
    const starting = startLedger({ payer, onDeath: (error) => onDeath(explain(error)) });
    // Registered before it is up: a signal on the way there must not leave it behind either.
    shutdown.add('ledger', async () => (await starting.catch(() => undefined))?.close());
    const ledger = await starting.catch((error: Error) => {
      throw explain(error);
    });
    return setUp({ rpcUrl: ledger.rpcUrl, wsUrl: ledger.wsUrl }, ledger.payer);
  }
  const urls = { rpcUrl, wsUrl: config.SOLANA_WS_URL ?? deriveWebsocketUrl(rpcUrl) };
  if (authorityKey) return setUp(urls, authorityKey);
  return describeCluster({ ...urls, wallet: config.SVC_WALLET, environment });
}

function explain(error: Error): StackError {
  return new StackError(error.message, { cause: error });
}

function expectPublishedProgram({ SVC_PROGRAM_ID: programId }: StackConfig): void {
  if (programId.equals(PROGRAM_ID)) return;
  throw new StackError(
    `SVC_PROGRAM_ID names another program than ${PROGRAM_ID}, the only one that npm start ` +
      'sets up. Leave it out, or name the cluster where yours is deployed by SOLANA_RPC_URL, ' +
      'without SVC_AUTHORITY_KEY.',
  );
}

async function setUp(
  urls: { rpcUrl: string; wsUrl: string },
  authority: Keypair,
): Promise<Deployment> {
  const connection = new Connection(urls.rpcUrl, {
    wsEndpoint: urls.wsUrl,
    commitment: 'confirmed',
  });
  return { ...urls, ...(await setUpDevelopmentLedger({ connection, authority })) };
}

/** As every Solana client does: a test validator's websocket has the next port. */
function deriveWebsocketUrl(rpcUrl: string): string {
  const url = new URL(rpcUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (url.port) url.port = `${Number(url.port) + 1}`;
  return url.href;
}
