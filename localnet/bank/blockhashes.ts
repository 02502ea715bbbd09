import { hash } from 'node:crypto';
import { addressText, keyOf } from '../wire/addressText.ts';

/** Each slot's blockhash, and which of them a transaction may still name. */
export interface Blockhashes {
  /** For so many slots after its own a blockhash can be used. */
  readonly windowSlots: number;
  at(slot: number): Uint8Array;
  /** In base58. */
  textAt(slot: number): string;
  /** The slot of a blockhash that is valid at `slot`; undefined when it is none, or too old. */
  slotOf(blockhash: Uint8Array, slot: number): number | undefined;
}

/** A cluster's window. */
const WINDOW_SLOTS_MIN = 150;
/** Where slots are short, a blockhash lives this long all the same. */
const WINDOW_MS_MIN = 3_000;
/** Whoever asks for a finalized one is given one that is so much older already. */
const FINALITY_SLOTS = 32;

/**
 * Blockhashes follow from the ledger's seed and the slot: none has to be kept, idle slots need no
 * block, and those of before a restart are still good.
 */
export function createBlockhashes(seed: Uint8Array, slotMs: number): Blockhashes {
  const windowSlots =
    Math.max(WINDOW_SLOTS_MIN, Math.ceil(WINDOW_MS_MIN / slotMs)) + FINALITY_SLOTS;
  const slots = new Map<string, number>();
  let computedTo = -1;

  const at = (slot: number): Uint8Array => {
    const input = Buffer.alloc(seed.length + 8);
    input.set(seed);
    input.writeBigUInt64LE(BigInt(slot), seed.length);
    return hash('sha256', input, 'buffer');
  };

  /** Knows all of the window, but only once somebody names one of them. */
  function computeUpTo(slot: number): void {
    for (let next = Math.max(computedTo + 1, slot - windowSlots); next <= slot; next += 1) {
      slots.set(keyOf(at(next)), next);
    }
    computedTo = Math.max(computedTo, slot);
    for (const [key, known] of slots) {
      if (known >= slot - windowSlots) break;
      slots.delete(key);
    }
  }

  return {
    windowSlots,
    at,
    textAt: (slot) => addressText(at(slot)),
    slotOf(blockhash, slot) {
      computeUpTo(slot);
      const known = slots.get(keyOf(blockhash));
      return known === undefined || known < slot - windowSlots ? undefined : known;
    },
  };
}
