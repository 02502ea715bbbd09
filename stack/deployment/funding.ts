import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import { accountSize } from '../../programs/client/codec.ts';
import { getMinimumBalanceForRentExemption } from '../../programs/client/rpc/methods.ts';
import { TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { exists, type Operator, submit, transfer } from '../operator.ts';
import type { DeploymentKeys } from './keys.ts';

/** Room for later versions, as in docs/deploying.md. */
export const PROGRAM_BYTES_MAX = 262_144;
/** ProgramData's head, and the account that names it. */
const PROGRAM_ACCOUNTS_BYTES = [PROGRAM_BYTES_MAX + 45, 36];
/** For a deployment and a set-up: some 200 transactions of 5,000 lamports, and priority fees. */
const FEES_LAMPORTS = LAMPORTS_PER_SOL / 50;

/** The SOL that a part of the deployment takes from the upgrade authority. */
export interface Share {
  readonly what: string;
  readonly lamports: number;
}

/** Its worker's authority gets 1 SOL, and accounts and mints have their rent. */
const TRIAL_LAMPORTS = 1.1 * LAMPORTS_PER_SOL;

/** The keys that get SOL from the upgrade authority, unless they have some. */
const PAYERS = [
  { key: 'hot-signer', lamports: LAMPORTS_PER_SOL, what: 'hot signer' },
  { key: 'crank', lamports: LAMPORTS_PER_SOL / 10, what: 'crank' },
  { key: 'worker-authority', lamports: LAMPORTS_PER_SOL / 50, what: 'worker authority' },
] as const;

/**
 * The costs that are still to be paid. The ledger says what rent is, since clusters differ.
 *
 * @param options.models how many of the catalog's models are missing
 */
export async function readShares(
  operator: Operator,
  options: {
    keys: DeploymentKeys;
    isDeployed: boolean;
    isInitialized: boolean;
    models: number;
    isTrial: boolean;
  },
): Promise<Share[]> {
  const { keys, isDeployed, isInitialized, models, isTrial } = options;
  const rentOf = async (sizes: readonly number[]): Promise<number> => {
    const rents = sizes.map((bytes) => getMinimumBalanceForRentExemption(operator.rpc, bytes));
    return (await Promise.all(rents)).reduce((sum, lamports) => sum + lamports, 0);
  };
  const tokenAccounts = Array(3).fill(TOKEN_ACCOUNT.bytes);
  const program = ['Config', 'Treasury', 'Gateway'] as const;
  const sizes = [
    ...(isInitialized ? [] : [...tokenAccounts, ...program.map(accountSize)]),
    ...Array(models).fill(accountSize('Model')),
  ];
  const shares = [
    { what: 'program', lamports: isDeployed ? 0 : await rentOf(PROGRAM_ACCOUNTS_BYTES) },
    { what: 'accounts of the program', lamports: await rentOf(sizes) },
    ...(await missingPayers(operator, keys)),
    { what: 'worker and wallet of the trial', lamports: isTrial ? TRIAL_LAMPORTS : 0 },
  ].filter(({ lamports }) => lamports > 0);
  return shares.length === 0 ? [] : [...shares, { what: 'fees', lamports: FEES_LAMPORTS }];
}

async function missingPayers(operator: Operator, keys: DeploymentKeys) {
  const payers = PAYERS.map((payer) => ({ ...payer, address: keys[payer.key].publicKey }));
  const funded = await Promise.all(payers.map(({ address }) => exists(operator, address)));
  return payers.filter((_payer, index) => !funded[index]);
}

/** Gives SOL to the keys without any. @param report gets a line for each */
export async function fundPayers(
  operator: Operator,
  keys: DeploymentKeys,
  report: (what: string, text: string) => void,
): Promise<void> {
  for (const { key, address, lamports } of await missingPayers(operator, keys)) {
    await submit(operator, [transfer(operator, address, lamports)]);
    report('funded', `${key}.json with ${inSol(lamports)} SOL`);
  }
}

/** Rounded up to a thousandth of a SOL. */
export function inSol(lamports: number): string {
  return String(Math.ceil((lamports / LAMPORTS_PER_SOL) * 1_000) / 1_000);
}
