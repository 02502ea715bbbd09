import { base58 } from '@scure/base';
import {
  type Account,
  RENT_EPOCH_NEVER,
  type Runtime,
  SLOTS_PER_EPOCH,
} from '../runtime/runtime.ts';
import type { Blockhashes } from './blockhashes.ts';
import type { Timeline } from './timeline.ts';

// Sysvars that change with every slot are made when somebody looks, so that idle slots cost nothing.

export const CLOCK_SYSVAR = base58.decode('SysvarC1ock11111111111111111111111111111111');
export const SLOT_HASHES_SYSVAR = base58.decode('SysvarS1otHashes111111111111111111111111111');
const SYSVAR_OWNER = base58.decode('Sysvar1111111111111111111111111111111111111');
const CLOCK_BYTES = 40;
/** Of slot u64 and hash, behind their count; programs read them at fixed offsets. */
const SLOT_HASHES = 512;
const SLOT_HASH_BYTES = 40;

/** slot, start of the epoch, epoch, the next leaders' epoch, Unix seconds. */
export function clockSysvar(runtime: Runtime, slot: number, timeline: Timeline): Account {
  const epoch = BigInt(slot) / SLOTS_PER_EPOCH;
  const data = Buffer.alloc(CLOCK_BYTES);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigUInt64LE(epoch, 16);
  data.writeBigUInt64LE(epoch + 1n, 24);
  data.writeBigInt64LE(BigInt(Math.floor(timeline.clockMs() / 1_000)), 32);
  return sysvar(runtime, data);
}

/** The hashes of the 512 slots up to this one, newest first. */
export function slotHashesSysvar(
  runtime: Runtime,
  slot: number,
  blockhashes: Blockhashes,
): Account {
  const data = Buffer.alloc(8 + SLOT_HASHES * SLOT_HASH_BYTES);
  data.writeBigUInt64LE(BigInt(SLOT_HASHES), 0);
  for (let index = 0; index < SLOT_HASHES; index += 1) {
    const offset = 8 + index * SLOT_HASH_BYTES;
    data.writeBigUInt64LE(BigInt(slot - index), offset);
    data.set(blockhashes.at(slot - index), offset + 8);
  }
  return sysvar(runtime, data);
}

function sysvar(runtime: Runtime, data: Uint8Array): Account {
  return {
    lamports: runtime.rentExemptLamports(data.length),
    data,
    owner: SYSVAR_OWNER,
    executable: false,
    rentEpoch: RENT_EPOCH_NEVER,
  };
}
