import { AccountLayout } from '@solana/spl-token';
import type { Connection } from '@solana/web3.js';
import { type DecodedAccount, decodeAccount } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { RetryableError } from '../errors.ts';

/** Everything that the program holds, as of one slot. */
export interface LedgerState {
  readonly slot: number;
  readonly accounts: ReadonlyMap<string, DecodedAccount>;
  readonly vaultBaseUnits: bigint;
  readonly stakeVaultBaseUnits: bigint;
}

/** Two questions are seldom answered from different slots, less so where slots are longer. */
const ATTEMPTS_MAX = 50;

/** @throws RetryableError when the ledger moved on between every two questions */
export async function readLedger(
  connection: Connection,
  addresses: Addresses,
): Promise<LedgerState> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const owned = await connection.getProgramAccounts(addresses.programId, {
      commitment: 'confirmed',
      withContext: true,
    });
    const vaults = await connection.getMultipleAccountsInfoAndContext(
      [addresses.vault, addresses.stakeVault],
      'confirmed',
    );
    if (vaults.context.slot !== owned.context.slot) continue;
    const [vault, stakeVault] = vaults.value.map((account) =>
      account ? AccountLayout.decode(account.data).amount : 0n,
    );
    return {
      slot: owned.context.slot,
      accounts: new Map(
        owned.value.map(({ pubkey, account }) => [pubkey.toBase58(), decodeAccount(account.data)]),
      ),
      vaultBaseUnits: vault ?? 0n,
      stakeVaultBaseUnits: stakeVault ?? 0n,
    };
  }
  throw new RetryableError('The accounts and the vaults could not be read as of one slot');
}
