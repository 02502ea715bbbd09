import { ADDRESS_BYTES, RENT_EPOCH_NEVER, type Runtime } from './runtime.ts';

/** A program on the ledger from the start. */
export interface DeployedProgram {
  readonly programId: Uint8Array;
  /** The address of its binary, which the upgradeable loader derives from the program's. */
  readonly programData: Uint8Array;
  readonly elf: Uint8Array;
  /** The key that may upgrade it; null: none. */
  readonly upgradeAuthority: Uint8Array | null;
}

/** The upgradeable loader's address, BPFLoaderUpgradeab1e11111111111111111111111. */
export const UPGRADEABLE_LOADER = Buffer.from(
  '02a8f6914e88a1b0e210153ef763ae2b00c2b93d16c124d2c0537a1004800000',
  'hex',
);
/** The loader's number for a Program account, followed by the address of its ProgramData. */
const PROGRAM_KIND = 2;
/** ProgramData: kind u32, slot u64, optional authority; then the binary. */
const PROGRAM_DATA_KIND = 3;
const PROGRAM_DATA_HEADER_BYTES = 45;
const AUTHORITY_OFFSET = 12;

/** Writes a program's accounts as the upgradeable loader would at slot 0. */
export function deployProgram(runtime: Runtime, program: DeployedProgram): void {
  const { programId, programData, elf, upgradeAuthority } = program;
  const header = Buffer.alloc(PROGRAM_DATA_HEADER_BYTES);
  header.writeUInt32LE(PROGRAM_DATA_KIND);
  if (upgradeAuthority !== null) header.set([1, ...upgradeAuthority], AUTHORITY_OFFSET);
  const pointer = Buffer.alloc(4 + ADDRESS_BYTES);
  pointer.writeUInt32LE(PROGRAM_KIND);
  pointer.set(programData, 4);
  // The binary first: LiteSVM loads it when the Program account appears.
  write(programData, Buffer.concat([header, elf]), false);
  write(programId, pointer, true);

  function write(address: Uint8Array, data: Uint8Array, executable: boolean): void {
    runtime.setAccount(address, {
      lamports: runtime.rentExemptLamports(data.length),
      data,
      owner: UPGRADEABLE_LOADER,
      executable,
      rentEpoch: RENT_EPOCH_NEVER,
    });
  }
}
