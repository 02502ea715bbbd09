import type { PublicKey } from '@solana/web3.js';
import {
  type AccountName,
  type Accounts,
  type DecodedAccount,
  decodeAccount,
  isBlank,
} from '../../accounts.ts';
import { JOB_STATUSES, word } from '../../vocabulary.ts';
import type { ProgramEvidence } from './evidence.ts';

export interface Located<Name extends AccountName> {
  readonly address: PublicKey;
  readonly data: Accounts[Name];
}

/** The evidence, with every account read. */
export interface ProgramState extends ProgramEvidence {
  readonly decoded: ReadonlyMap<string, DecodedAccount>;
  readonly unreadable: readonly { readonly address: PublicKey; readonly reason: string }[];
  /** Those that mean nothing. */
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
      const account = decodeAccount(data);
      if (account.name === 'Job') word(JOB_STATUSES, account.data.status);
      decoded.set(address.toBase58(), account);
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
