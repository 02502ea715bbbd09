import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { CommandError } from '../../cli/terminal/output.ts';
import { fetchConfig } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { getBalance } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { readExecutable } from '../../programs/client/verify/program/gatherProgram.ts';
import {
  addModel,
  BUILTIN_CARD,
  initializeConfig,
  LAUNCH_CATALOG,
  openGateway,
} from '../bootstrap.ts';
import { StackError } from '../config.ts';
import { addressesOf, createMint, exists, type Mints, type Operator } from '../operator.ts';
import { openCreditAccount, registerWorker } from '../participants.ts';
import { fundPayers, inSol, PROGRAM_BYTES_MAX, readShares, type Share } from './funding.ts';
import {
  type DeploymentKeys,
  hasProgramKey,
  keyPath,
  openKeys,
  openProgramKey,
  openTrialKeys,
} from './keys.ts';

/** What the operator of a deployment decides. */
export interface DeploymentOptions {
  readonly rpcUrl: string;
  /** The folder of its keys. */
  readonly dir: string;
  /** A program whose key is elsewhere. */
  readonly programId?: PublicKey;
  /** Both stay for good. Without them the program has to be initialized already. */
  readonly mints?: Mints;
  /** Makes the mints, a wallet with credits, and a worker there with the built-in engine. */
  readonly trialEndpoint?: string;
}

/** Gets one line for each finding: what it is about, and a few words. */
export type Report = (what: string, text: string) => void;

/** The operator has to do something first, and the message says what. */
export class ActionRequiredError extends CommandError {
  override name = 'ActionRequiredError';
}

const AGAIN = 'Then run this command again.';
const TRIAL_STAKE_TOKENS = 1_000n;
const TRIAL_CREDITS = 10_000n;
const SETTINGS_FILE = 'service.env';

/**
 * From a funded key to a program that is set up. What is done already is not done again, so a repeat
 * goes on where the last one ended.
 *
 * @throws ActionRequiredError where SOL, a deployment or a decision is missing
 * @throws StackError, SetupError with what is wrong
 */
export async function initializeDeployment(
  { rpc, connection }: { rpc: Rpc; connection: LedgerConnection },
  options: DeploymentOptions,
  report: Report,
): Promise<void> {
  const { dir, trialEndpoint: endpoint } = options;
  const { keys, made } = await openKeys(dir);
  report('keys', made.length > 0 ? `made ${made.join(', ')} in ${dir}` : `all in ${dir}`);
  const authority = keys['upgrade-authority'];
  const isKnown = existsSync(join(dir, SETTINGS_FILE));
  const programId = await chooseProgram(connection, options, authority.publicKey);
  const operator: Operator = { rpc, authority, programId };
  const { config: configAddress, ...addresses } = addressesOf(operator);
  const config = await fetchConfig(connection, configAddress, { programId });
  const isDeployed = await requireOwnProgram(connection, {
    programId,
    authority: authority.publicKey,
    isKnown,
  });
  const missing = await missingModels(operator);
  const shares = await readShares(operator, {
    keys,
    isDeployed,
    isInitialized: config !== null,
    models: missing.length,
    isTrial:
      endpoint !== undefined &&
      !(await exists(operator, addresses.worker(keys['worker-authority'].publicKey))),
  });
  const steps = [
    await describeFunding(operator, shares, dir),
    isDeployed ? undefined : describeDeployment(programId, dir),
  ].filter((step) => step !== undefined);
  if (steps.length > 0) throw new ActionRequiredError([...steps, AGAIN].join('\n\n'));
  report('program', String(programId));

  const mints = config
    ? { credit: config.creditMint, stake: config.stakeMint }
    : await chooseMints(operator, options);
  await initializeConfig(operator, { mints, arbiter: keys.arbiter.publicKey });
  report('config', config ? `${configAddress} is there` : `initialized ${configAddress}`);
  // What another engine runs, its owner knows.
  const card = endpoint ? BUILTIN_CARD : {};
  for (const model of missing) await addModel(operator, { ...model, ...card });
  report('catalog', `${LAUNCH_CATALOG.length} models, of which ${missing.length} new`);
  const gateway = await openGateway(operator, {
    gatewayOperator: keys['gateway-operator'],
    signers: [keys['hot-signer'].publicKey],
  });
  report('gateway', String(gateway));
  await fundPayers(operator, keys, report);
  if (endpoint) await openTrial(operator, { dir, keys, gateway, mints, endpoint }, report);
  report('settings', writeSettings({ options, keys, programId, gateway }));
}

/**
 * The program of a deployment: the named one, else that of the folder. A local ledger has the published
 * program, which belongs to this upgrade authority there.
 */
async function chooseProgram(
  connection: LedgerConnection,
  { programId, dir }: DeploymentOptions,
  authority: PublicKey,
): Promise<PublicKey> {
  const settings = join(dir, SETTINGS_FILE);
  const known = existsSync(settings) && parseEnv(readFileSync(settings, 'utf8')).SVC_PROGRAM_ID;
  if (programId || known) return programId ?? new PublicKey(String(known));
  if (!hasProgramKey(dir)) {
    const published = await readExecutable(connection, PROGRAM_ID);
    if ('code' in published && published.upgradeAuthority?.equals(authority)) return PROGRAM_ID;
  }
  return openProgramKey(dir).publicKey;
}

/**
 * Whether the program is there.
 *
 * @param owner.isKnown whether it was set up from this folder
 * @throws StackError where another key is its upgrade authority, which alone can initialize it
 */
async function requireOwnProgram(
  connection: LedgerConnection,
  owner: { programId: PublicKey; authority: PublicKey; isKnown: boolean },
): Promise<boolean> {
  const { programId, authority, isKnown } = owner;
  const found = await readExecutable(connection, programId);
  if ('reason' in found) return false;
  // The authority of a set-up from this folder may be a multisig by now.
  if (isKnown || found.upgradeAuthority?.equals(authority)) return true;
  throw new StackError(
    `The upgrade authority of ${programId} is ${found.upgradeAuthority}, not ${authority} of ` +
      'upgrade-authority.json. Name another --program, or put its key there.',
  );
}

async function missingModels(operator: Operator) {
  const addresses = addressesOf(operator);
  const there = await Promise.all(
    LAUNCH_CATALOG.map(({ id }) => exists(operator, addresses.model(id))),
  );
  return LAUNCH_CATALOG.filter((_model, index) => !there[index]);
}

async function chooseMints(operator: Operator, options: DeploymentOptions): Promise<Mints> {
  if (options.mints) return options.mints;
  if (!options.trialEndpoint) {
    throw new ActionRequiredError(
      'Choose both mints, for good: --credit-mint <address> --stake-mint <address>. To try it ' +
        'out: --trial.',
    );
  }
  const keys = openTrialKeys(options.dir);
  await createMint(operator, keys['credit-mint']);
  await createMint(operator, keys['stake-mint']);
  return { credit: keys['credit-mint'].publicKey, stake: keys['stake-mint'].publicKey };
}

/** @returns undefined where the upgrade authority has what is needed */
async function describeFunding(
  { rpc, authority }: Operator,
  shares: readonly Share[],
  dir: string,
): Promise<string | undefined> {
  const needed = shares.reduce((sum, { lamports }) => sum + lamports, 0);
  const address = authority.publicKey.toBase58();
  const lamports = await getBalance(rpc, address, { commitment: 'confirmed' });
  if (lamports >= needed) return undefined;
  const sol = inSol(needed - lamports);
  const parts = shares.map((share) => `  ${inSol(share.lamports).padStart(7)}  ${share.what}`);
  return `Send ${sol} SOL to ${keyPath(dir, 'upgrade-authority')}, which pays for all of this:

${parts.join('\n')}

from a key of yours, or on a test cluster from its faucet:

  solana transfer ${address} ${sol} --allow-unfunded-recipient --url "$RPC" --keypair your-key.json
  solana airdrop ${sol} ${address} --url "$RPC"`;
}

function describeDeployment(programId: PublicKey, dir: string): string {
  return `Build and deploy the program ${programId}:

  npm run program:build -- --program-id ${programId} --out escrow-build
  solana program deploy escrow-build/escrow-v3.so --url "$RPC" \\
    --keypair ${keyPath(dir, 'upgrade-authority')} --program-id ${keyPath(dir, 'escrow')} \\
    --max-len ${PROGRAM_BYTES_MAX}`;
}

async function openTrial(
  operator: Operator,
  deployment: {
    dir: string;
    keys: DeploymentKeys;
    gateway: PublicKey;
    mints: Mints;
    endpoint: string;
  },
  report: Report,
): Promise<void> {
  const { dir, keys, gateway: spender, mints, endpoint } = deployment;
  const { wallet, ...mintKeys } = openTrialKeys(dir);
  if (!mintKeys['credit-mint'].publicKey.equals(mints.credit)) {
    throw new StackError('--trial: this program has other mints than those of a trial.');
  }
  const worker = await registerWorker(operator, {
    authority: keys['worker-authority'],
    proofKey: keys['proof-key'].publicKey,
    endpoint,
    modelIds: LAUNCH_CATALOG.map(({ id }) => id),
    stakeTokens: TRIAL_STAKE_TOKENS,
    mints,
  });
  report('worker', `${worker} at ${endpoint}`);
  await openCreditAccount(operator, { wallet, spender, credits: TRIAL_CREDITS, mints });
  report('wallet', `${wallet.publicKey} with ${TRIAL_CREDITS} credits`);
}

/** Writes the settings without keys and database, unless the file is there. @returns its path */
function writeSettings(deployment: {
  options: DeploymentOptions;
  keys: DeploymentKeys;
  programId: PublicKey;
  gateway: PublicKey;
}): string {
  const { options, keys, programId, gateway } = deployment;
  const path = join(options.dir, SETTINGS_FILE);
  if (existsSync(path)) return `${path} is there, and stays as it is`;
  const settings = {
    SOLANA_RPC_URL: options.rpcUrl,
    SVC_PROGRAM_ID: programId.toBase58(),
    SVC_GATEWAY: gateway.toBase58(),
    WORKER_AUTHORITY: keys['worker-authority'].publicKey.toBase58(),
    WORKER_GATEWAYS: gateway.toBase58(),
    ...(options.trialEndpoint && {
      SVC_WALLET: openTrialKeys(options.dir).wallet.publicKey.toBase58(),
      SVC_ALLOW_LOOPBACK: 'true',
      SVC_ALLOW_BUILTIN_WORKERS: 'true',
      // In the checkout that the processes run in.
      SVC_MODEL_CARDS_DIR: 'stack/modelCards',
      WORKER_ENGINE: 'builtin',
      WORKER_PORT: new URL(options.trialEndpoint).port,
      // Half a minute of the local ledger's slots, which are shorter than a cluster's.
      INDEXER_LAG_SLOTS_MAX: '6000',
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  // An address of a provider holds its key.
  writeFileSync(path, lines.join(''), { mode: 0o600, flag: 'wx' });
  return path;
}
