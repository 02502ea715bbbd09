import { hash } from 'node:crypto';
import { base58 } from '@scure/base';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import {
  type Account,
  RENT_EPOCH_NEVER,
  type Runtime,
  SLOTS_PER_EPOCH,
} from '../runtime/runtime.ts';
import type { Timeline } from '../runtime/timeline.ts';
import { addressText } from '../wire/text.ts';

export type Blockhashes = ReturnType<typeof createBlockhashes>;

/**
 * Each slot's blockhash, and the window in which transactions may use it.
 *
 * Blockhashes are derived from the ledger's seed and the slot. So none is stored, idle slots need no
 * block, and blockhashes stay valid over a restart.
 *
 * @param heightOf how many blocks there are up to a slot: by them a blockhash ages
 */
export function createBlockhashes(
  seed: Uint8Array,
  windowSlots: number,
  heightOf: (slot: number) => number,
) {
  // Also where slots are skipped, it lives no longer.
  const windowHeights = heightOf(windowSlots);
  const slots = new Map<string, number>();
  let computedTo = -1;

  const at = (slot: number): Uint8Array => {
    const input = Buffer.alloc(seed.length + 8);
    input.set(seed);
    input.writeBigUInt64LE(BigInt(slot), seed.length);
    return hash('sha256', input, 'buffer');
  };

  /** The height of the last block in which a transaction may use the blockhash of a slot. */
  const lastValidHeight = (slot: number): number => heightOf(slot) + windowHeights;

  /** A slot whose blockhash is not valid in this one any more, and no older than it must be. */
  function newestExpired(slot: number): number {
    let expired = slot - windowHeights;
    while (lastValidHeight(expired) >= heightOf(slot)) {
      expired -= lastValidHeight(expired) - heightOf(slot) + 1;
    }
    return expired;
  }

  /** Computes the window on demand. */
  function computeUpTo(slot: number): void {
    const expired = newestExpired(slot);
    for (let next = Math.max(computedTo, expired) + 1; next <= slot; next += 1) {
      slots.set(nameOfBytes(at(next)), next);
    }
    computedTo = Math.max(computedTo, slot);
    for (const [key, known] of slots) {
      if (known > expired) break;
      slots.delete(key);
    }
  }

  return {
    lastValidHeight,
    at,
    /** In base58. */
    textAt: (slot: number): string => addressText(at(slot)),
    /** The slot of a blockhash that is valid at `slot`; undefined for an unknown or expired one. */
    slotOf(blockhash: Uint8Array, slot: number): number | undefined {
      computeUpTo(slot);
      const known = slots.get(nameOfBytes(blockhash));
      return known === undefined || lastValidHeight(known) < heightOf(slot) ? undefined : known;
    },
  };
}

// Sysvars that change with every slot are computed on demand, so that idle slots cost nothing.

export const CLOCK_SYSVAR = base58.decode('SysvarC1ock11111111111111111111111111111111');
export const SLOT_HASHES_SYSVAR = base58.decode('SysvarS1otHashes111111111111111111111111111');
const SYSVAR_OWNER = base58.decode('Sysvar1111111111111111111111111111111111111');
const CLOCK_BYTES = 40;
/** The number of entries, each a slot (u64) and a hash, after a count. Programs read fixed offsets. */
const SLOT_HASHES = 512;
const SLOT_HASH_BYTES = 40;

/** The Clock account: slot, start of the epoch, epoch, leader schedule epoch, Unix seconds. */
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
