/** The time at the beginning of a slot. Times between two anchors are computed. */
export interface TimeAnchor {
  readonly slot: number;
  /** This machine's time, in Unix milliseconds. */
  readonly wallMs: number;
  readonly slotMs: number;
  /** The Clock's time, in Unix milliseconds. */
  readonly clockMs: number;
  readonly isClockRunning: boolean;
}

export type Timeline = ReturnType<typeof createTimeline>;

/** The SlotHashes sysvar has as many earlier slots. */
const FIRST_SLOT = 512;

/**
 * Slots and the Clock. Slots are computed from elapsed time, so that an idle slot costs nothing.
 * The Clock follows this machine's, unless it was moved or stopped.
 *
 * @param options.anchors the stored anchors, oldest first. Slots also passed since the last one,
 *   while the ledger did not run, so that no slot repeats
 * @param options.slotFloor the ledger starts after this slot, at any time that the clocks show
 */
export function createTimeline(options: {
  slotMs: number;
  anchors: readonly TimeAnchor[];
  slotFloor: number;
  wallMs: () => number;
  monotoneMs: () => number;
}) {
  const { slotMs, slotFloor, wallMs, monotoneMs } = options;
  const anchors = [...options.anchors];
  const start = startAnchor(anchors.at(-1), { slotMs, slotFloor, wallMs: wallMs() });
  anchors.push(start);
  let zeroMs = monotoneMs() - start.slot * slotMs;
  let isRunning = start.isClockRunning;
  let stoppedMs = start.clockMs;
  /** Clock minus wall, while it runs. */
  let offsetMs = start.clockMs - start.wallMs;

  /** The current slot, or the one of so many milliseconds ago. */
  const slotNow = (agoMs = 0): number => Math.floor((monotoneMs() - agoMs - zeroMs) / slotMs);
  /** The Clock's time, in Unix milliseconds. */
  const clockMs = (): number => (isRunning ? wallMs() + offsetMs : stoppedMs);

  /** Takes effect from the next slot. @returns what is to be stored, so that a restart goes on */
  function anchor(): TimeAnchor {
    const added = {
      slot: slotNow() + 1,
      wallMs: wallMs(),
      slotMs,
      clockMs: clockMs(),
      isClockRunning: isRunning,
    };
    anchors.push(added);
    return added;
  }

  return {
    slotMs,
    start,
    slotNow,
    clockMs,
    /** Milliseconds until a slot has begun, and `afterMs` more; 0 when that is over. */
    msUntil: (slot: number, afterMs = 0): number =>
      Math.max(0, zeroMs + slot * slotMs + afterMs - monotoneMs()),
    get isClockRunning(): boolean {
      return isRunning;
    },
    /** The Clock's time at the beginning of a slot that has passed, in Unix milliseconds. */
    clockMsAt: (slot: number): number =>
      clockMsAt(slot, anchors.findLast((one) => one.slot <= slot) ?? (anchors[0] as TimeAnchor)),
    /** Moves, stops or starts the Clock; slots continue. @returns the anchor to store */
    setClock(change: {
      clockMs?: number | undefined;
      isRunning?: boolean | undefined;
    }): TimeAnchor {
      const moved = change.clockMs ?? clockMs();
      isRunning = change.isRunning ?? isRunning;
      stoppedMs = moved;
      offsetMs = moved - wallMs();
      return anchor();
    },
    anchorNow: anchor,
    /** Advances the slots, but not the Clock, as if they had passed idle. */
    skipSlots(slots: number): TimeAnchor {
      zeroMs -= slots * slotMs;
      return anchor();
    },
  };
}

/** Since the anchor before the start slots have passed, and the Clock ran on if it was running. */
function startAnchor(
  before: TimeAnchor | undefined,
  { slotMs, slotFloor, wallMs }: { slotMs: number; slotFloor: number; wallMs: number },
): TimeAnchor {
  if (!before) return { slot: FIRST_SLOT, wallMs, slotMs, clockMs: wallMs, isClockRunning: true };
  const passed = Math.max(0, Math.ceil((wallMs - before.wallMs) / before.slotMs));
  const offset = before.clockMs - before.wallMs;
  return {
    slot: Math.max(before.slot + passed, slotFloor) + 1,
    wallMs,
    slotMs,
    clockMs: before.isClockRunning ? wallMs + offset : before.clockMs,
    isClockRunning: before.isClockRunning,
  };
}

/** The Clock at a slot, counted from the anchor before it. */
function clockMsAt(slot: number, from: TimeAnchor): number {
  return from.clockMs + (from.isClockRunning ? (slot - from.slot) * from.slotMs : 0);
}
