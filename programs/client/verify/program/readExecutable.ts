import { type Connection, PublicKey } from '@solana/web3.js';
import { COMMITMENT } from '../ledgerState.ts';
import type { Executable } from './evidence.ts';

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
/** Program: kind u32, then the address of its ProgramData. */
const PROGRAM_DATA_AT = 4;
/** ProgramData: kind u32, slot u64, the optional upgrade authority, then the code. */
const AUTHORITY_AT = 12;
const CODE_AT = 45;

/** Reads the program's code, or says why that is not possible. */
export async function readExecutable(
  connection: Connection,
  programId: PublicKey,
): Promise<Executable | { reason: string }> {
  const program = await connection.getAccountInfo(programId, COMMITMENT);
  if (!program?.executable) return { reason: `There is no program at ${programId}.` };
  if (!program.owner.equals(UPGRADEABLE_LOADER)) {
    return { reason: `The program belongs to the loader ${program.owner}, which is not read.` };
  }
  const address = new PublicKey(program.data.subarray(PROGRAM_DATA_AT, PROGRAM_DATA_AT + 32));
  const found = await connection.getAccountInfo(address, COMMITMENT);
  if (!found?.owner.equals(UPGRADEABLE_LOADER))
    return { reason: `There is no code at ${address}.` };
  const hasAuthority = found.data[AUTHORITY_AT] === 1;
  const authority = found.data.subarray(AUTHORITY_AT + 1, CODE_AT);
  return {
    code: found.data.subarray(CODE_AT),
    upgradeAuthority: hasAuthority ? new PublicKey(authority) : null,
  };
}
