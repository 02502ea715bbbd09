/** How often it makes sense to ask a ledger: its state changes once a slot. */
export interface SlotPace {
  /** Tells that an answer received at `localMs` spoke of this slot. */
  observe(slot: number, localMs: number): void;
  /** Milliseconds between two questions. */
  readonly intervalMs: number;
}

/**
 * Measures the duration of slots, which differs between ledgers by a factor of twenty, within
 * bounds. Until two answers were seen it is the lower bound, so that the measure comes soon.
 */
export function createSlotPace(bounds: { minMs: number; maxMs: number }): SlotPace {
  const { minMs, maxMs } = bounds;
  let last: { slot: number; localMs: number } | undefined;
  let intervalMs = minMs;
  return {
    observe(slot, localMs) {
      if (last !== undefined && slot > last.slot) {
        const slotMs = (localMs - last.localMs) / (slot - last.slot);
        intervalMs = Math.min(maxMs, Math.max(minMs, slotMs));
      }
      if (slot !== last?.slot) last = { slot, localMs };
    },
    get intervalMs() {
      return intervalMs;
    },
  };
}
