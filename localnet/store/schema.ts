import { crc32 } from 'node:zlib';
import { type Account, ADDRESS_BYTES } from '../runtime/runtime.ts';

/** "svcl" in the file's header distinguishes our files from those of other programs. */
export const APPLICATION_ID = 0x7376636c;
/** Increases with every change of the tables; older files are refused, not migrated. */
export const STORE_VERSION = 1;

/**
 * The ledger's file. One database transaction writes a whole block before it is announced as
 * confirmed. `position` counts all transactions in the order of the ledger.
 *
 * SQLite checks the form of its pages but not their content, so each account and each transaction
 * has its own checksum.
 */
export const SCHEMA = `
  create table ledger (name text primary key, value any not null) strict, without rowid;

  create table time_anchors (
    slot integer primary key,
    wall_ms integer not null,
    slot_ms integer not null,
    clock_ms integer not null,
    is_clock_running integer not null
  ) strict;

  create table accounts (
    address blob primary key,
    state blob not null,
    checksum integer not null
  ) strict, without rowid;

  create table blocks (
    slot integer primary key,
    clock_ms integer not null,
    first_position integer not null,
    last_position integer not null
  ) strict;

  create table transactions (
    position integer primary key,
    signature blob not null unique,
    slot integer not null,
    error text,
    memo text,
    wire blob not null,
    meta text not null,
    checksum integer not null
  ) strict;

  create table mentions (
    address blob not null,
    position integer not null,
    primary key (address, position)
  ) strict, without rowid;
`;

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

/** Decodes an account; undefined when the bytes are too few. */
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

/** A transaction on disk. */
export interface StoredTransaction {
  /** Its number among all transactions of the ledger. */
  readonly position: number;
  readonly signature: Uint8Array;
  readonly slot: number;
  /** JSON; null when it succeeded. */
  readonly error: string | null;
  readonly memo: string | null;
  readonly wire: Uint8Array;
  /** The `meta` of clusters, as JSON. */
  readonly meta: string;
}
