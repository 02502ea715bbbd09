/** How far the mirror is behind the ledger. */
export interface Lag {
  /** Between the newest slot of the ledger and the one up to which the mirror is complete. */
  readonly slots: number;
  /** Since the mirror was last known to hold everything. */
  readonly ms: number;
}

/** Follows the ledger's newest slot and the mirror's sweeps. */
export interface Progress {
  sawHead(slot: bigint): void;
  /** @returns to be called when everything that the ledger listed to this sweep is applied */
  beginSweep(): () => void;
  /** Undefined until this process has swept everything once since it began to keep the mirror. */
  lag(): Lag | undefined;
  /** To be called when this process no longer keeps the mirror. */
  forget(): void;
}

export function createProgress(nowMs: () => number): Progress {
  let head = 0n;
  let complete: { slot: bigint; atMs: number } | undefined;
  return {
    sawHead(slot) {
      head = slot;
    },
    beginSweep() {
      const begun = { slot: head, atMs: nowMs() };
      return () => {
        complete = begun;
      };
    },
    // A node behind another one may tell of a lower slot.
    lag: () =>
      complete && {
        slots: Math.max(0, Number(head - complete.slot)),
        ms: nowMs() - complete.atMs,
      },
    forget() {
      complete = undefined;
    },
  };
}
