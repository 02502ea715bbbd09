/** A mirror counts as away when it lacks slots that are older than this. */
const LAG_MS_MAX = 30_000;
const SAMPLES_MAX = 100;

/** Judges how old the mirror is, by the slots that the ledger had at known times. */
interface MirrorLag {
  /** Records the slot of the ledger's newest transaction. */
  note(newestSlot: number): void;
  /** `unknown` while the recorded slots prove neither. */
  judge(mirrorSlot: number | null): 'ok' | 'away' | 'unknown';
}

/**
 * Slots differ in length from ledger to ledger: what counts is what the ledger had by then.
 *
 * @param nowMs a clock that never goes back
 */
export function createMirrorLag(nowMs: () => number): MirrorLag {
  const samples: { slot: number; atMs: number }[] = [];
  return {
    note(slot) {
      samples.push({ slot, atMs: nowMs() });
      if (samples.length > SAMPLES_MAX) samples.shift();
    },
    judge(mirrorSlot) {
      if (mirrorSlot === null) return 'away';
      const isOld = ({ atMs }: { atMs: number }) => nowMs() - atMs >= LAG_MS_MAX;
      if (samples.some((sample) => !isOld(sample) && sample.slot <= mirrorSlot)) return 'ok';
      return samples.some((sample) => isOld(sample) && sample.slot > mirrorSlot)
        ? 'away'
        : 'unknown';
    },
  };
}
