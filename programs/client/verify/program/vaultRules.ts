import type { AccountInfo } from '@solana/web3.js';
import type { PublicKey } from '#platform';
import { TOKEN_PROGRAM } from '../../addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../generated/constants.ts';
import { areKeysEqual } from '../../keys.ts';
import { repayableCredits } from '../../pricing.ts';
import {
  decodeTokenAccount,
  INITIALIZED,
  TOKEN_ACCOUNT,
  type TokenAccount,
} from '../../token/layout.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import { type Conservation, computeConservation } from '../ledgerState.ts';
import {
  accountsNamed,
  judgeProblems,
  namesOfTrue,
  type ProgramState,
  programRule,
  type TokenAccountName,
} from './state.ts';

const NAMES: readonly TokenAccountName[] = ['vault', 'treasuryVault', 'stakeVault'];

/** Only the program can move or block what is in its token accounts. */
export const custody = programRule('vaults.custody', (state) => {
  const [config] = accountsNamed(state, 'Config');
  if (!config) return notCheckable('The program is not initialized.');
  const { creditMint, stakeMint } = config.data;
  const problems = NAMES.flatMap((name) => {
    const mint = name === 'stakeVault' ? stakeMint : creditMint;
    return findProblems(state.tokenAccounts[name], mint, state.addresses.vaultAuthority).map(
      (problem) => `${state.addresses[name]} (${name}) ${problem}`,
    );
  });
  return judgeProblems(
    problems,
    `All three belong to ${state.addresses.vaultAuthority}. Credits are backed by the token ` +
      `${creditMint}, stakes are in ${stakeMint}.`,
  );
});

/** The vault holds all that anybody has a claim to. */
export const vault = programRule('vaults.credits', (state) => judgeConservation(state, 'vault'));

/** The stake vault holds all that is staked, unstaking or slashed. */
export const stakeVault = programRule('vaults.stakes', (state) =>
  judgeConservation(state, 'stake_vault'),
);

function judgeConservation(state: ProgramState, name: Conservation['vault']): Finding {
  if (!state.isAtRest) {
    return notCheckable(
      'Tokens moved during every reading: ask a quicker node, or a quieter hour.',
    );
  }
  const { heldBaseUnits, dueBaseUnits } = computeConservation({
    accounts: state.decoded,
    vaultBaseUnits: holding(state.tokenAccounts.vault),
    stakeVaultBaseUnits: holding(state.tokenAccounts.stakeVault),
  }).find((one) => one.vault === name) as Conservation;
  const surplus = heldBaseUnits - dueBaseUnits;
  if (surplus < 0n) {
    return fails(`${-surplus} base units are missing: ${heldBaseUnits} held, ${dueBaseUnits} due.`);
  }
  const more =
    surplus > 0n
      ? `, and ${surplus} more: sent unasked, or due to accounts that the node left out`
      : '';
  return holds(`${dueBaseUnits} base units, as due${more}.`);
}

/** What a token account holds, in base units; nothing if it is none. */
function holding(account: AccountInfo<Uint8Array> | null): bigint {
  return readTokenAccount(account)?.amount ?? 0n;
}

/** Undefined for what is no token account. */
function readTokenAccount(account: AccountInfo<Uint8Array> | null): TokenAccount | undefined {
  if (account === null || !areKeysEqual(account.owner, TOKEN_PROGRAM)) return undefined;
  if (account.data.length !== TOKEN_ACCOUNT.bytes) return undefined;
  return decodeTokenAccount(account.data);
}

function findProblems(
  account: AccountInfo<Uint8Array> | null,
  mint: PublicKey,
  owner: PublicKey,
): string[] {
  const held = readTokenAccount(account);
  if (!held) return ['is no token account'];
  return namesOfTrue({
    'belongs to somebody else': !held.owner.equals(owner),
    'is of another mint': !held.mint.equals(mint),
    'is frozen': held.state !== INITIALIZED,
    'has a delegate': held.delegate !== null,
    'can be closed by somebody else': held.closeAuthority !== null,
  });
}

/** The treasury's obligations are those to wallets with owed credits and to open disputes. */
export const treasury = programRule('treasury.obligations', (state) => {
  const [found] = accountsNamed(state, 'Treasury');
  if (!found) return notCheckable('The program is not initialized.');
  const owed = accountsNamed(state, 'CreditAccount').reduce(
    (sum, { data }) => sum + data.owedCredits,
    0n,
  );
  const disputed = accountsNamed(state, 'Job')
    .filter(({ data }) => data.status === 'disputed')
    .reduce((sum, { data }) => sum + repayableCredits(data.chargedCredits, data), 0n);
  const { owedBaseUnits, disputedExposureBaseUnits } = found.data;
  return compare(
    {
      'what it owes': [owedBaseUnits, owed * BASE_UNITS_PER_CREDIT],
      'its exposure': [disputedExposureBaseUnits, disputed * BASE_UNITS_PER_CREDIT],
    },
    `Owes ${owedBaseUnits}, at most ${disputedExposureBaseUnits} more by open disputes, ` +
      `and holds ${holding(state.tokenAccounts.treasuryVault)} base units.`,
  );
});
