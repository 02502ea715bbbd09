import { PublicKey } from '#platform';
import { delay } from '../../../../common/wait.ts';
import { type Addresses, UPGRADEABLE_LOADER } from '../../addresses.ts';
import { areKeysEqual } from '../../keys.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { areBytesEqual } from '../../platform/bytes.ts';
import { CLOCK, COMMITMENT, isBoughtSince, unixTimeOf } from '../ledgerState.ts';
import { type Executable, type ProgramEvidence, readState } from './state.ts';

/** Program: kind u32, then the address of its ProgramData. */
const PROGRAM_DATA_AT = 4;
/** ProgramData: kind u32, slot u64, the optional upgrade authority, then the code. */
const AUTHORITY_AT = 12;
const CODE_AT = 45;

/** Reads the program's code and its upgrade authority, or says why that is not possible. */
export async function readExecutable(
  connection: LedgerConnection,
  programId: PublicKey,
): Promise<Executable | { reason: string }> {
  const program = await connection.getAccountInfo(programId, COMMITMENT);
  if (!program?.executable) return { reason: `There is no program at ${programId}.` };
  if (!areKeysEqual(program.owner, UPGRADEABLE_LOADER)) {
    return { reason: `The program belongs to the loader ${program.owner}, which is not read.` };
  }
  const address = new PublicKey(program.data.subarray(PROGRAM_DATA_AT, PROGRAM_DATA_AT + 32));
  const found = await connection.getAccountInfo(address, COMMITMENT);
  if (!found || !areKeysEqual(found.owner, UPGRADEABLE_LOADER))
    return { reason: `There is no code at ${address}.` };
  const hasAuthority = found.data[AUTHORITY_AT] === 1;
  const authority = found.data.subarray(AUTHORITY_AT + 1, CODE_AT);
  return {
    code: found.data.subarray(CODE_AT),
    upgradeAuthority: hasAuthority ? new PublicKey(authority) : null,
  };
}

/** On a busy ledger tokens move in nearly every slot, and a reading takes many. */
const ROUNDS_MAX = 20;
/** All rounds together outlast the second in which credits were bought a moment ago. */
const ROUND_MS = 150;

/**
 * Reads every account of the program, and its token accounts before and after. If these are equal,
 * they were so in between, unless credits were bought in that time. If not, it reads again.
 *
 * @param options.wait waits so many milliseconds between two readings
 */
export async function gatherProgram(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  wait?: (ms: number) => Promise<void>;
}): Promise<ProgramEvidence> {
  const { connection, addresses, wait = delay } = options;
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
      before.bytes.every((bytes, at) => areBytesEqual(bytes, after.bytes[at] ?? new Uint8Array()));
    const evidence: ProgramEvidence = {
      addresses,
      executable,
      isAtRest: isUnchanged,
      now: before.unixTime,
      tokenAccounts: after.tokenAccounts,
      slots: { first: before.slot, last: after.slot },
      accounts: owned.value.map(({ pubkey, account }) => ({ address: pubkey, data: account.data })),
    };
    const isAtRest =
      isUnchanged && !isBoughtSince(readState(evidence).decoded.values(), before.unixTime);
    if (isAtRest || round === ROUNDS_MAX) return { ...evidence, isAtRest };
    before = after;
    await wait(ROUND_MS);
  }
}

async function readTokenAccounts(connection: LedgerConnection, addresses: Addresses) {
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(
    [addresses.vault, addresses.treasuryVault, addresses.stakeVault, CLOCK],
    COMMITMENT,
  );
  const [vault = null, treasuryVault = null, stakeVault = null, clock] = value;
  return {
    slot: context.slot,
    unixTime: unixTimeOf(clock),
    bytes: [vault, treasuryVault, stakeVault].map((account) => account?.data ?? new Uint8Array()),
    tokenAccounts: { vault, treasuryVault, stakeVault },
  };
}
