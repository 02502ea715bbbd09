import type { AccountInfo, Connection } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';
import { COMMITMENT, readClock } from '../ledgerState.ts';
import type { ProgramEvidence } from './evidence.ts';
import { readExecutable } from './readExecutable.ts';

/** On a busy ledger tokens move in nearly every slot, and a reading takes many. */
const ROUNDS_MAX = 20;

/**
 * Reads every account of the program, and its token accounts before and after: what did not change
 * in between held in between. Reads again while they do change.
 */
export async function gatherProgram(options: {
  connection: Connection;
  addresses: Addresses;
}): Promise<ProgramEvidence> {
  const { connection, addresses } = options;
  const executable = await readExecutable(connection, addresses.programId);
  let before = await readTokenAccounts(connection, addresses);
  for (let round = 1; ; round += 1) {
    const now = await readClock(connection);
    const owned = await connection.getProgramAccounts(addresses.programId, {
      commitment: COMMITMENT,
      withContext: true,
    });
    const after = await readTokenAccounts(connection, addresses);
    const isAtRest =
      before.slot <= owned.context.slot &&
      owned.context.slot <= after.slot &&
      before.bytes.equals(after.bytes);
    if (isAtRest || round === ROUNDS_MAX) {
      const { tokenAccounts } = after;
      return {
        ...{ addresses, executable, now, tokenAccounts, isAtRest },
        slots: { first: before.slot, last: after.slot },
        accounts: owned.value.map(({ pubkey, account }) => ({
          address: pubkey,
          data: account.data,
        })),
      };
    }
    before = after;
  }
}

async function readTokenAccounts(connection: Connection, addresses: Addresses) {
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(
    [addresses.vault, addresses.treasuryVault, addresses.stakeVault],
    COMMITMENT,
  );
  const [vault = null, treasuryVault = null, stakeVault = null] = value;
  const accounts: readonly (AccountInfo<Buffer> | null)[] = [vault, treasuryVault, stakeVault];
  return {
    slot: context.slot,
    bytes: Buffer.concat(accounts.map((account) => account?.data ?? Buffer.alloc(0))),
    tokenAccounts: { vault, treasuryVault, stakeVault },
  };
}
