import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { base58 } from '@scure/base';
import { Keypair, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { fetchWorker, workerEndpoint } from '../programs/client/accounts.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../programs/client/generated/constants.ts';
import { workerUpdate } from '../programs/client/instructions.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import {
  addModel,
  BUILTIN_CARD,
  initializeConfig,
  LAUNCH_CATALOG,
  openGateway,
} from './bootstrap.ts';
import {
  createMint,
  exists,
  type Mints,
  mintTo,
  type Operator,
  submit,
  transfer,
} from './operator.ts';
import { openCreditAccount, registerWorker } from './participants.ts';

/** The service on a ledger, with the settings for its processes. */
export interface Deployment {
  rpcUrl: string;
  wsUrl: string;
  /** The address of the API key's wallet. */
  wallet: string;
  /** Whether the stack created that wallet, and has its only API key. */
  isOwnWallet: boolean;
  /** Base64 of 32 bytes, the key that seals secrets in the database. */
  secretsKey: string;
  /** Settings, including secrets, that are not in the stack's own environment. */
  apiEnvironment: NodeJS.ProcessEnv;
  indexerEnvironment: NodeJS.ProcessEnv;
  /** Accounts that the development wallet may sign with; none on a cluster. */
  developmentAccounts: readonly { readonly name: string; readonly keypair: Keypair }[];
  /** The workers that the stack runs. */
  workers: readonly DeployedWorker[];
}

export interface DeployedWorker {
  environment: NodeJS.ProcessEnv;
  /** Registers its endpoint on the ledger. */
  register(endpoint: string): Promise<void>;
}

const addresses = createAddresses();
const WORKERS = ['worker-1', 'worker-2'];
/** A job's rent is bound for two minutes; this suffices for a local ledger at full speed. */
const PAYER_LAMPORTS = 200 * LAMPORTS_PER_SOL;
const WALLET_CREDITS = 10_000n;
const STAKE_TOKENS = 1_000n;
/** For an account that signs in the browser: many transactions, and 1,000 stablecoins. */
const SIGNER_LAMPORTS = 10 * LAMPORTS_PER_SOL;
const SIGNER_BASE_UNITS = 100_000n * BASE_UNITS_PER_CREDIT;
/** What the built-in engine is, which answers for every model. */
const MODEL_CARDS_FOLDER = fileURLToPath(new URL('modelCards', import.meta.url));

/**
 * The keys of a development ledger, each derived from the authority's. So a second start on the same
 * ledger finds the set-up of the first.
 */
export function deriveKeys(authority: Keypair) {
  const key = (purpose: string) => Keypair.fromSeed(deriveSecret(authority, purpose));
  return {
    creditMint: key('credit-mint'),
    stakeMint: key('stake-mint'),
    crank: key('crank'),
    signer: key('signer'),
    wallet: key('wallet'),
    arbiter: key('arbiter'),
    gatewayOperator: key('gateway-operator'),
    stranger: key('stranger'),
    workers: WORKERS.map((name) => ({ authority: key(name), proofKey: key(`${name}-proof`) })),
  };
}

/** What a set-up on a development ledger is known by, before any ledger has it. */
type DevelopmentSettings = Pick<
  Deployment,
  'wallet' | 'secretsKey' | 'apiEnvironment' | 'indexerEnvironment'
> & { workerEnvironments: readonly NodeJS.ProcessEnv[] };

/** @param isBuiltin whether the workers answer from the built-in engine */
export function deriveSettings(
  authority: Keypair,
  { isBuiltin }: { isBuiltin: boolean },
): DevelopmentSettings {
  const keys = deriveKeys(authority);
  const gateway = addresses.gateway(keys.gatewayOperator.publicKey).toBase58();
  return {
    wallet: keys.wallet.publicKey.toBase58(),
    secretsKey: deriveSecret(authority, 'secrets').toString('base64'),
    apiEnvironment: {
      SVC_GATEWAY: gateway,
      SVC_CONSOLE_OPERATORS: authority.publicKey.toBase58(),
      SVC_SIGNER_KEY: secretText(keys.signer),
      ...(isBuiltin && {
        SVC_ALLOW_BUILTIN_WORKERS: 'true',
        SVC_MODEL_CARDS_DIR: MODEL_CARDS_FOLDER,
      }),
    },
    indexerEnvironment: { SVC_CRANK_KEY: secretText(keys.crank) },
    workerEnvironments: keys.workers.map((worker) => ({
      WORKER_AUTHORITY: worker.authority.publicKey.toBase58(),
      WORKER_PROOF_KEY: secretText(worker.proofKey),
      WORKER_PORT: '0',
      WORKER_GATEWAYS: gateway,
      ...(isBuiltin && { WORKER_ENGINE: 'builtin' }),
    })),
  };
}

/**
 * Sets the whole service up on a ledger with the deployed program: mints, config, the launch catalog,
 * a Gateway and a wallet with credits. The operator is the program's upgrade authority.
 *
 * @param isBuiltin whether the workers answer from the built-in engine
 */
export async function setUpDevelopmentLedger(
  operator: Operator,
  { isBuiltin }: { isBuiltin: boolean },
): Promise<Omit<Deployment, 'rpcUrl' | 'wsUrl'>> {
  const keys = deriveKeys(operator.authority);
  const { creditMint, stakeMint, signer, wallet, arbiter, gatewayOperator, stranger } = keys;
  const mints = { credit: creditMint.publicKey, stake: stakeMint.publicKey };
  // What another engine runs, its owner knows.
  const card = isBuiltin ? BUILTIN_CARD : {};

  await Promise.all([createMint(operator, creditMint), createMint(operator, stakeMint)]);
  await initializeConfig(operator, { mints, arbiter: arbiter.publicKey });
  const [gateway] = await Promise.all([
    openGateway(operator, {
      gatewayOperator,
      signers: [signer.publicKey],
    }),
    ...LAUNCH_CATALOG.map((model) => addModel(operator, { ...model, ...card })),
    ...[signer, keys.crank].map(({ publicKey }) => fund(operator, publicKey)),
  ]);
  await Promise.all(
    [wallet, stranger, arbiter, gatewayOperator].map(({ publicKey }) =>
      fundSigner(operator, publicKey, mints),
    ),
  );
  await openCreditAccount(operator, { wallet, spender: gateway, credits: WALLET_CREDITS, mints });

  const { workerEnvironments, ...settings } = deriveSettings(operator.authority, { isBuiltin });
  return {
    ...settings,
    isOwnWallet: true,
    developmentAccounts: [
      { name: 'wallet', keypair: wallet },
      { name: 'stranger', keypair: stranger },
      { name: 'arbiter', keypair: arbiter },
      { name: 'operator', keypair: operator.authority },
      { name: 'gateway operator', keypair: gatewayOperator },
    ],
    workers: keys.workers.map((worker, index) => ({
      environment: workerEnvironments[index] as NodeJS.ProcessEnv,
      register: (endpoint) => registerAt(operator, { mints, ...worker }, endpoint),
    })),
  };
}

async function registerAt(
  operator: Operator,
  { mints, authority, proofKey }: { mints: Mints; authority: Keypair; proofKey: Keypair },
  endpoint: string,
): Promise<void> {
  const address = await registerWorker(operator, {
    authority,
    proofKey: proofKey.publicKey,
    endpoint,
    mints,
    modelIds: LAUNCH_CATALOG.map(({ id }) => id),
    stakeTokens: STAKE_TOKENS,
  });
  // An earlier start may have registered another port.
  const worker = await fetchWorker(connectLedger(operator.rpc), address);
  if (!worker || workerEndpoint(worker) === endpoint) return;
  const update = workerUpdate({
    proofKey: proofKey.publicKey,
    endpoint,
    payout: worker.payout,
    authority: authority.publicKey,
  });
  await submit(operator, [update], [authority]);
}

async function fund(operator: Operator, address: PublicKey): Promise<void> {
  if (await exists(operator, address)) return;
  await submit(operator, [transfer(operator, address, PAYER_LAMPORTS)]);
}

/** Gives an account of the development wallet SOL for its transactions, and stablecoins for credits. */
async function fundSigner(operator: Operator, owner: PublicKey, mints: Mints): Promise<void> {
  const purse = mintTo(operator, { mint: mints.credit, owner, baseUnits: SIGNER_BASE_UNITS });
  if (await exists(operator, purse.account)) return;
  const lamports = transfer(operator, owner, SIGNER_LAMPORTS);
  await submit(operator, [lamports, ...purse.instructions]);
}

function deriveSecret(authority: Keypair, purpose: string): Buffer {
  return createHash('sha256').update(authority.secretKey).update(purpose).digest();
}

function secretText({ secretKey }: Keypair): string {
  return base58.encode(secretKey);
}
