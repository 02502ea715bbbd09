import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { websocketUrlOf } from '../common/net/urls.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { type StackConfig, StackError } from './config.ts';
import { ledgerIn, loadAuthority } from './dataFolder.ts';
import {
  type DeployedWorker,
  type Deployment,
  setUpDevelopmentLedger,
} from './developmentLedger.ts';

/** The settings that only the operator of a deployment can give, with descriptions. */
const REQUIRED = {
  SVC_GATEWAY: 'address of your Gateway account',
  SVC_SIGNER_KEY: 'secret key of one of its hot signers, which pays fees and rent',
  SVC_CRANK_KEY: 'secret key that pays for refunds and closings',
  SVC_SECRETS_KEY: 'base64 of 32 random bytes, which seals webhook secrets',
  SVC_WALLET: 'address of the wallet to make an API key for',
};

/**
 * The service that its operator has deployed on a cluster. Its processes read their keys from the
 * environment. WORKER_AUTHORITY and WORKER_PROOF_KEY also start a worker, which must listen
 * (WORKER_PORT) where it is registered.
 *
 * @throws StackError with everything that is missing
 */
function describeCluster(input: {
  rpcUrl: string;
  wsUrl: string;
  wallet: PublicKey | undefined;
  environment: NodeJS.ProcessEnv;
}): Deployment {
  const { rpcUrl, wsUrl, wallet, environment } = input;
  const missing = Object.entries(REQUIRED).filter(([name]) => !environment[name]);
  if (wallet === undefined || missing.length > 0) {
    const list = missing.map(([name, meaning]) => `${name} (${meaning})`).join(', ');
    throw new StackError(
      `On the ledger of SOLANA_RPC_URL the keys are yours to give. Missing: ${list}. On a test ` +
        'validator SVC_AUTHORITY_KEY alone (the deployed program’s upgrade authority, with 600 ' +
        'SOL) sets everything up.',
    );
  }
  const registered: DeployedWorker = { environment: {}, register: async () => undefined };
  return {
    rpcUrl,
    wsUrl,
    wallet: wallet.toBase58(),
    isOwnWallet: false,
    secretsKey: environment.SVC_SECRETS_KEY ?? '',
    apiEnvironment: {},
    indexerEnvironment: {},
    developmentAccounts: [],
    workers: environment.WORKER_AUTHORITY && environment.WORKER_PROOF_KEY ? [registered] : [],
  };
}

/**
 * Opens the ledger: the local one, a development ledger that the stack sets up with SOLANA_RPC_URL and
 * SVC_AUTHORITY_KEY, or a cluster with the deployed service.
 *
 * @param input.startLocalnet starts the local ledger's process with these settings
 * @returns the service on it, and its JSON-RPC address
 * @throws StackError when keys are missing, the local ledger does not start, or SVC_PROGRAM_ID names
 *   another program than the published one
 */
export async function openLedger(input: {
  config: StackConfig;
  environment: NodeJS.ProcessEnv;
  startLocalnet: (settings: NodeJS.ProcessEnv) => Promise<string>;
}): Promise<Deployment> {
  const { config, environment, startLocalnet } = input;
  const { SOLANA_RPC_URL: rpcUrl, SVC_AUTHORITY_KEY: authorityKey } = config;
  if (!rpcUrl || authorityKey) assertPublishedProgram(config);
  if (!rpcUrl) {
    const { SVC_DATA_DIR: dataFolder } = config;
    const payer = dataFolder ? await loadAuthority(dataFolder) : Keypair.generate();
    const localUrl = await startLocalnet({
      LOCALNET_PAYER_KEY: base58.encode(payer.secretKey),
      LOCALNET_DEVELOPMENT: 'true',
      ...(dataFolder && { LOCALNET_DATA_DIR: ledgerIn(dataFolder) }),
    });
    return setUp({ rpcUrl: localUrl, wsUrl: websocketUrlOf(localUrl) }, payer, config);
  }
  const urls = { rpcUrl, wsUrl: config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl) };
  if (authorityKey) return setUp(urls, authorityKey, config);
  return describeCluster({ ...urls, wallet: config.SVC_WALLET, environment });
}

function assertPublishedProgram({ SVC_PROGRAM_ID: programId }: StackConfig): void {
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
  { WORKER_UPSTREAM_URL: upstreamUrl }: StackConfig,
): Promise<Deployment> {
  const rpc = connectPooledRpc({ url: urls.rpcUrl });
  const isBuiltin = upstreamUrl === undefined;
  return { ...urls, ...(await setUpDevelopmentLedger({ rpc, authority }, { isBuiltin })) };
}
