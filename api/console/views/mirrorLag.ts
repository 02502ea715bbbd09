/** A mirror that lacks what the ledger had so long ago is away. */
const LAG_MS_MAX = 30_000;
const SAMPLES_MAX = 100;

/** Judges how old the mirror is by what the ledger had at known times. */
interface MirrorLag {
  /** The slot of the newest transaction that the ledger has at present. */
  note(newestSlot: number): void;
  /** `unknown` where nothing that was noted proves either. */
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
