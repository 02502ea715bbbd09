import { Connection, Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { websocketUrlOf } from '../indexer/source/hints.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { describeCluster } from './cluster.ts';
import type { StackConfig } from './config.ts';
import { keepAuthority, ledgerIn } from './dataFolder.ts';
import type { Deployment } from './deployment.ts';
import { setUpDevelopmentLedger } from './developmentLedger.ts';
import { StackError } from './errors.ts';

/**
 * Finds the ledger to work on: the local one, a development ledger that SOLANA_RPC_URL and
 * SVC_AUTHORITY_KEY let the stack set up, or a cluster where the service is deployed already.
 *
 * @param input.startLocalnet starts the local ledger's process with these settings
 * @returns the service there, and its JSON-RPC address
 * @throws StackError when keys are missing, the local ledger does not come up, or another program is
 *   named than the one that is set up
 */
export async function openLedger(input: {
  config: StackConfig;
  environment: NodeJS.ProcessEnv;
  startLocalnet: (settings: NodeJS.ProcessEnv) => Promise<string>;
}): Promise<Deployment> {
  const { config, environment, startLocalnet } = input;
  const { SOLANA_RPC_URL: rpcUrl, SVC_AUTHORITY_KEY: authorityKey } = config;
  if (!rpcUrl || authorityKey) expectPublishedProgram(config);
  if (!rpcUrl) {
    const { SVC_DATA_DIR: dataFolder } = config;
    const payer = dataFolder ? await keepAuthority(dataFolder) : Keypair.generate();
    const localUrl = await startLocalnet({
      LOCALNET_PAYER_KEY: bs58.encode(payer.secretKey),
      LOCALNET_DEVELOPMENT: 'true',
      ...(dataFolder && { LOCALNET_DATA_DIR: ledgerIn(dataFolder) }),
    });
    return setUp({ rpcUrl: localUrl, wsUrl: websocketUrlOf(localUrl) }, payer);
  }
  const urls = { rpcUrl, wsUrl: config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl) };
  if (authorityKey) return setUp(urls, authorityKey);
  return describeCluster({ ...urls, wallet: config.SVC_WALLET, environment });
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
