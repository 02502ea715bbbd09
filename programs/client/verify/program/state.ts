import type { AccountInfo, PublicKey } from '@solana/web3.js';
import {
  type AccountName,
  type Accounts,
  type DecodedAccount,
  decodeAccount,
  isBlank,
} from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { type Check, type Finding, fails, holds } from '../check.ts';

/** An account that belongs to the program, as its bytes. */
interface OwnedAccount {
  readonly address: PublicKey;
  readonly data: Uint8Array;
}

/** The program's code as the ledger keeps it. */
export interface Executable {
  /** Behind the loader's header; the loader may have padded it with zeros. */
  readonly code: Uint8Array;
  /** The key that can replace the code; null when none can any more. */
  readonly upgradeAuthority: PublicKey | null;
}

export type TokenAccountName = 'vault' | 'treasuryVault' | 'stakeVault';

/** Everything that was asked of the ledger about the whole program. Nothing of it is judged yet. */
export interface ProgramEvidence {
  readonly addresses: Addresses;
  /** The state is that of a slot between these. */
  readonly slots: { readonly first: number; readonly last: number };
  /** Whether no token moved between those slots: then accounts and vaults can be compared. */
  readonly isAtRest: boolean;
  /** The ledger's Clock before the accounts were read, in Unix seconds. */
  readonly now: bigint;
  readonly accounts: readonly OwnedAccount[];
  readonly tokenAccounts: Readonly<Record<TokenAccountName, AccountInfo<Uint8Array> | null>>;
  /** The code, or why it cannot be read. */
  readonly executable: Executable | { readonly reason: string };
}

interface Located<Name extends AccountName> {
  readonly address: PublicKey;
  readonly data: Accounts[Name];
}

/** The evidence, with every account read. */
export interface ProgramState extends ProgramEvidence {
  readonly decoded: ReadonlyMap<string, DecodedAccount>;
  readonly unreadable: readonly { readonly address: PublicKey; readonly reason: string }[];
  /** Accounts without content. */
  readonly blank: readonly PublicKey[];
}

export function readState(evidence: ProgramEvidence): ProgramState {
  const decoded = new Map<string, DecodedAccount>();
  const unreadable: { address: PublicKey; reason: string }[] = [];
  const blank: PublicKey[] = [];
  for (const { address, data } of evidence.accounts) {
    if (isBlank(data)) {
      blank.push(address);
      continue;
    }
    try {
      decoded.set(address.toBase58(), decodeAccount(data));
    } catch (error) {
      unreadable.push({ address, reason: (error as Error).message });
    }
  }
  return { ...evidence, decoded, unreadable, blank };
}

/** Every readable account of one kind. */
export function accountsNamed<Name extends AccountName>(
  { accounts, decoded }: ProgramState,
  name: Name,
): Located<Name>[] {
  return accounts.flatMap(({ address }) => {
    const found = decoded.get(address.toBase58());
    return found?.name === name ? [{ address, data: found.data as Accounts[Name] }] : [];
  });
}

/** Judges one thing about the whole program. */
export type ProgramRule = (state: ProgramState) => Check;

/** Above this, problems are counted, not named. */
const NAMED_MAX = 5;

export function programRule(name: string, judge: (state: ProgramState) => Finding): ProgramRule {
  return (state) => ({ name, ...judge(state), evidence: [] });
}

/**
 * @param problems one sentence for each thing that is wrong, without its full stop
 * @param agreement the finding's detail when there is none
 */
export function judgeProblems(problems: readonly string[], agreement: string): Finding {
  if (problems.length === 0) return holds(agreement);
  const named = problems.slice(0, NAMED_MAX).join('; ');
  const rest = problems.length - NAMED_MAX;
  return fails(rest > 0 ? `${named}; and ${rest} more.` : `${named}.`);
}

/** The problems that there are, of all that there could be. */
export function namesOfTrue(problems: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(problems).filter((problem) => problems[problem]);
}
