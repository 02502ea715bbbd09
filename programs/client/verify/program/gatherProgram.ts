import { setTimeout as delay } from 'node:timers/promises';
import { type AccountInfo, type Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';
import { isBoughtSince } from '../conservation.ts';
import { COMMITMENT, unixTimeOf } from '../ledgerState.ts';
import type { ProgramEvidence } from './evidence.ts';
import { readExecutable } from './readExecutable.ts';
import { readState } from './state.ts';

/** On a busy ledger tokens move in nearly every slot, and a reading takes many. */
const ROUNDS_MAX = 20;
/** All rounds together outlast the second in which credits were bought a moment ago. */
const ROUND_MS = 150;

/**
 * Reads every account of the program, and its token accounts before and after: what did not change
 * in between held in between, unless credits were bought meanwhile. Reads again while it did not.
 */
export async function gatherProgram(options: {
  connection: Connection;
  addresses: Addresses;
}): Promise<ProgramEvidence> {
  const { connection, addresses } = options;
  const executable = await readExecutable(connection, addresses.programId);
  let before = await readTokenAccounts(connection, addresses);
  for (let round = 1; ; round += 1) {
    const owned = await connection.getProgramAccounts(addresses.programId, {
      commitment: COMMITMENT,
      withContext: true,
    });
    const after = await readTokenAccounts(connection, addresses);
    const isUnchanged =
      before.slot <= owned.context.slot &&
      owned.context.slot <= after.slot &&
      before.bytes.equals(after.bytes);
    const evidence: ProgramEvidence = {
      ...{ addresses, executable, isAtRest: isUnchanged, now: before.unixTime },
      tokenAccounts: after.tokenAccounts,
      slots: { first: before.slot, last: after.slot },
      accounts: owned.value.map(({ pubkey, account }) => ({ address: pubkey, data: account.data })),
    };
    const isAtRest =
      isUnchanged && !isBoughtSince(readState(evidence).decoded.values(), before.unixTime);
    if (isAtRest || round === ROUNDS_MAX) return { ...evidence, isAtRest };
    before = after;
    await delay(ROUND_MS);
  }
}

async function readTokenAccounts(connection: Connection, addresses: Addresses) {
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(
    [addresses.vault, addresses.treasuryVault, addresses.stakeVault, SYSVAR_CLOCK_PUBKEY],
    COMMITMENT,
  );
  const [vault = null, treasuryVault = null, stakeVault = null, clock] = value;
  const accounts: readonly (AccountInfo<Buffer> | null)[] = [vault, treasuryVault, stakeVault];
  return {
    slot: context.slot,
    unixTime: unixTimeOf(clock),
    bytes: Buffer.concat(accounts.map((account) => account?.data ?? Buffer.alloc(0))),
    tokenAccounts: { vault, treasuryVault, stakeVault },
  };
}
