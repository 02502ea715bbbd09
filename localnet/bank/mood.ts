import { createRandom } from '../../common/seededRandom.ts';

/** What a ledger leaves to chance; a single node of its own accord leaves nothing. */
export interface Mood {
  /** Whether a slot passes without a block. */
  isSkipped(slot: number): boolean;
  /** How many blocks there are up to a slot. */
  heightOf(slot: number): number;
  /** Absent: a preflight is the execution, and each list has the order of the ledger. */
  readonly faults?: Faults;
}

interface Faults {
  /** After how many milliseconds each copy of a sent transaction is executed; none: it is lost. */
  delaysMs(): readonly number[];
  /** Puts the rows of each slot, newest first, into an order of this reading alone. */
  reorder<Row extends { readonly slot: number }>(rows: readonly Row[]): Row[];
}

export const RELIABLE: Mood = { isSkipped: () => false, heightOf: (slot) => slot };

const PERCENT = 100;
const LOST_PERCENT = 4;
const DOUBLED_PERCENT = 4;
const DELAY_MS_MAX = 30;
/** One slot of so many is skipped, at least and at most. */
const SKIPPED_MIN = 5;
const SKIPPED_MAX = 12;

/**
 * A ledger that does what clusters may do. The slots that are skipped follow from the seed alone.
 * What is drawn for a call depends also on which calls came before.
 */
export function createUnreliableMood(seed: number): Mood {
  const random = createRandom(`${seed}`);
  const period = SKIPPED_MIN + random.below(SKIPPED_MAX - SKIPPED_MIN + 1);
  const offset = random.below(period);
  const delayMs = () => random.below(DELAY_MS_MAX);
  return {
    isSkipped: (slot) => slot % period === offset,
    heightOf: (slot) => slot - Math.floor((slot + period - offset) / period),
    faults: {
      delaysMs() {
        const drawn = random.below(PERCENT);
        if (drawn < LOST_PERCENT) return [];
        return drawn < LOST_PERCENT + DOUBLED_PERCENT ? [delayMs(), delayMs()] : [delayMs()];
      },
      reorder: (rows) =>
        rows
          .map((row) => ({ row, rank: random.below(PERCENT) }))
          .sort((one, other) => other.row.slot - one.row.slot || one.rank - other.rank)
          .map(({ row }) => row),
    },
  };
}

/** The newest slot with a block, up to this one. */
export function producedSlot({ isSkipped }: Mood, slot: number): number {
  return isSkipped(slot) ? slot - 1 : slot;
}
