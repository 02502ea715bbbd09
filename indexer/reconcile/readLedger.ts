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

const ATTEMPTS_MAX = 50;

/**
 * Reads accounts and vaults without any cursor or lock: the vaults are read before and after the
 * accounts, and what did not change in between held in between.
 *
 * @throws RetryableError when tokens moved during every attempt
 */
export async function readLedger(
  connection: Connection,
  addresses: Addresses,
): Promise<LedgerState> {
  let before = await readVaults(connection, addresses);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const owned = await connection.getProgramAccounts(addresses.programId, {
      commitment: 'confirmed',
      withContext: true,
    });
    const after = await readVaults(connection, addresses);
    const isSettled =
      before.slot <= owned.context.slot &&
      owned.context.slot <= after.slot &&
      before.vaultBaseUnits === after.vaultBaseUnits &&
      before.stakeVaultBaseUnits === after.stakeVaultBaseUnits;
    if (isSettled) {
      return {
        ...after,
        slot: owned.context.slot,
        accounts: new Map(
          owned.value.map(({ pubkey, account }) => [
            pubkey.toBase58(),
            decodeAccount(account.data),
          ]),
        ),
      };
    }
    before = after;
  }
  throw new RetryableError('Tokens moved while the accounts were read, again and again');
}

async function readVaults(connection: Connection, addresses: Addresses) {
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(
    [addresses.vault, addresses.stakeVault],
    'confirmed',
  );
  const [vaultBaseUnits = 0n, stakeVaultBaseUnits = 0n] = value.map((account) =>
    account ? AccountLayout.decode(account.data).amount : 0n,
  );
  return { slot: context.slot, vaultBaseUnits, stakeVaultBaseUnits };
}
