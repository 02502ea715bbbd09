import type { AccountInfo, PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';

/** An account that belongs to the program, as its bytes. */
export interface OwnedAccount {
  readonly address: PublicKey;
  readonly data: Uint8Array;
}

/** The program's code as the ledger keeps it. */
export interface Executable {
  /** Behind the loader's header; the loader may have padded it with zeros. */
  readonly code: Uint8Array;
  /** Who can replace the code; null when nobody can any more. */
  readonly upgradeAuthority: PublicKey | null;
}

export type TokenAccountName = 'vault' | 'treasuryVault' | 'stakeVault';

/** Everything that was asked of the ledger about the whole program. Nothing of it is judged yet. */
export interface ProgramEvidence {
  readonly addresses: Addresses;
  /** What is here was the ledger's state at some slot between these. */
  readonly slots: { readonly first: number; readonly last: number };
  /** Whether no token moved between those slots: then accounts and vaults can be compared. */
  readonly isAtRest: boolean;
  /** The ledger's Clock before the accounts were read, in Unix seconds. */
  readonly now: bigint;
  readonly accounts: readonly OwnedAccount[];
  readonly tokenAccounts: Readonly<Record<TokenAccountName, AccountInfo<Uint8Array> | null>>;
  /** Or why the code cannot be read. */
  readonly executable: Executable | { readonly reason: string };
}
