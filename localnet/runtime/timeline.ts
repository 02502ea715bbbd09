/** Where time stood at the beginning of a slot. What lies between two of these is computed. */
export interface TimeAnchor {
  readonly slot: number;
  /** This machine's time, in Unix milliseconds. */
  readonly wallMs: number;
  readonly slotMs: number;
  /** The Clock's time, in Unix milliseconds. */
  readonly clockMs: number;
  readonly isClockRunning: boolean;
}

/**
 * Slots and the Clock. Slots follow from the time that passes, so that an idle one costs nothing.
 * The Clock is this machine's, unless it was moved or stopped.
 */
export interface Timeline {
  readonly slotMs: number;
  /** The slot whose time it is. */
  slotNow(): number;
  /** Milliseconds until a slot's time begins; 0 when it has. */
  msUntil(slot: number): number;
  /** The Clock's time, in Unix milliseconds. */
  clockMs(): number;
  readonly isClockRunning: boolean;
  /** The Clock's time at the beginning of a slot that has passed, in Unix milliseconds. */
  clockMsAt(slot: number): number;
  /** Moves, stops or starts the Clock; slots go on as they did. @returns what to keep of it */
  setClock(change: { clockMs?: number | undefined; isRunning?: boolean | undefined }): TimeAnchor;
  /** @returns what to keep of where time stands, so that it goes on from there */
  mark(): TimeAnchor;
  /** Makes it this much later for slots alone, as if they had passed in silence. */
  skipSlots(slots: number): TimeAnchor;
}

/** The SlotHashes sysvar tells of as many slots before. */
const FIRST_SLOT = 512;

/**
 * @param options.anchors what was kept, oldest first. The time since the last counts: slots passed
 *   while nobody ran the ledger, so that none is ever told twice
 * @param options.slotFloor the ledger is past this slot, whatever the clocks say
 */
export function createTimeline(options: {
  slotMs: number;
  anchors: readonly TimeAnchor[];
  slotFloor: number;
  wallMs: () => number;
  monotoneMs: () => number;
}): Timeline & { readonly start: TimeAnchor } {
  const { slotMs, slotFloor, wallMs, monotoneMs } = options;
  const anchors = [...options.anchors];
  const last = anchors.at(-1);
  const start = last ? resume(last) : begin();
  anchors.push(start);
  let zeroMs = monotoneMs() - start.slot * slotMs;
  let isRunning = start.isClockRunning;
  let stoppedMs = start.clockMs;
  /** Clock minus wall, while it runs. */
  let offsetMs = start.clockMs - start.wallMs;

  function begin(): TimeAnchor {
    const now = wallMs();
    return { slot: FIRST_SLOT, wallMs: now, slotMs, clockMs: now, isClockRunning: true };
  }

  function resume(before: TimeAnchor): TimeAnchor {
    const now = wallMs();
    const passed = Math.max(0, Math.ceil((now - before.wallMs) / before.slotMs));
    const offset = before.clockMs - before.wallMs;
    return {
      slot: Math.max(before.slot + passed, slotFloor) + 1,
      wallMs: now,
      slotMs,
      clockMs: before.isClockRunning ? now + offset : before.clockMs,
      isClockRunning: before.isClockRunning,
    };
  }

  const slotNow = (): number => Math.floor((monotoneMs() - zeroMs) / slotMs);
  const clockMs = (): number => (isRunning ? wallMs() + offsetMs : stoppedMs);

  /** From the next slot on. */
  function anchor(): TimeAnchor {
    const kept = {
      slot: slotNow() + 1,
      wallMs: wallMs(),
      slotMs,
      clockMs: clockMs(),
      isClockRunning: isRunning,
    };
    anchors.push(kept);
    return kept;
  }

  return {
    slotMs,
    start,
    slotNow,
    clockMs,
    msUntil: (slot) => Math.max(0, zeroMs + slot * slotMs - monotoneMs()),
    get isClockRunning() {
      return isRunning;
    },
    clockMsAt(slot) {
      const from = anchors.findLast((one) => one.slot <= slot) ?? (anchors[0] as TimeAnchor);
      const passedMs = from.isClockRunning ? (slot - from.slot) * from.slotMs : 0;
      return from.clockMs + passedMs;
    },
    setClock(change) {
      const moved = change.clockMs ?? clockMs();
      isRunning = change.isRunning ?? isRunning;
      stoppedMs = moved;
      offsetMs = moved - wallMs();
      return anchor();
    },
    mark: anchor,
    skipSlots(slots) {
      zeroMs -= slots * slotMs;
      return anchor();
    },
  };
}
