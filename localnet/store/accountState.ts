import { crc32 } from 'node:zlib';
import { type Account, ADDRESS_BYTES } from '../runtime/runtime.ts';

/** lamports u64, rent epoch u64, executable u8, owner; then the data. */
const RENT_EPOCH_OFFSET = 8;
const EXECUTABLE_OFFSET = 16;
const OWNER_OFFSET = 17;
const DATA_OFFSET = OWNER_OFFSET + ADDRESS_BYTES;

/** An account's bytes on disk. */
export function encodeAccount(account: Account): Uint8Array {
  const bytes = Buffer.allocUnsafe(DATA_OFFSET + account.data.length);
  bytes.writeBigUInt64LE(account.lamports, 0);
  bytes.writeBigUInt64LE(account.rentEpoch, RENT_EPOCH_OFFSET);
  bytes.writeUInt8(account.executable ? 1 : 0, EXECUTABLE_OFFSET);
  bytes.set(account.owner, OWNER_OFFSET);
  bytes.set(account.data, DATA_OFFSET);
  return bytes;
}

/** The account of such bytes; undefined when they are too few. */
export function decodeAccount(state: Uint8Array): Account | undefined {
  if (state.length < DATA_OFFSET) return undefined;
  const bytes = Buffer.from(state.buffer, state.byteOffset, state.length);
  return {
    lamports: bytes.readBigUInt64LE(0),
    rentEpoch: bytes.readBigUInt64LE(RENT_EPOCH_OFFSET),
    executable: bytes.readUInt8(EXECUTABLE_OFFSET) === 1,
    owner: state.subarray(OWNER_OFFSET, DATA_OFFSET),
    data: state.subarray(DATA_OFFSET),
  };
}

/** A checksum over several parts of a row. */
export function checksumOf(...parts: readonly (Uint8Array | string)[]): number {
  return parts.reduce<number>((sum, part) => crc32(part, sum), 0);
}
