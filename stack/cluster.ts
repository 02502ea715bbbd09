import type { PublicKey } from '@solana/web3.js';
import type { DeployedWorker, Deployment } from './deployment.ts';
import { StackError } from './errors.ts';

/** What only a deployment's operator knows, and what each setting is. */
const REQUIRED = {
  SVC_GATEWAY: 'address of your Gateway account',
  SVC_SIGNER_KEY: 'secret key of one of its hot signers',
  SVC_FEE_PAYER_KEYS: 'secret keys that pay fees and rent',
  SVC_CRANK_KEY: 'secret key that pays for refunds and closings',
  SVC_SECRETS_KEY: 'base64 of 32 random bytes, which seals webhook secrets',
  SVC_WALLET: 'address of the wallet to make an API key for',
};

/**
 * The service that its operator has already put on a cluster: its processes take their keys from
 * the environment. A worker runs here too where WORKER_AUTHORITY and WORKER_PROOF_KEY name one; it
 * must listen (WORKER_PORT) where it is registered.
 *
 * @throws StackError naming everything that is missing
 */
export function describeCluster(input: {
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
    workers: environment.WORKER_AUTHORITY && environment.WORKER_PROOF_KEY ? [registered] : [],
  };
}
