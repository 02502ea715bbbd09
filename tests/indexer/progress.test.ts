import { describe, expect, it } from '@jest/globals';
import { createProgress } from '../../indexer/mirror/progress.ts';

function createAt(nowMs: number) {
  let now = nowMs;
  const progress = createProgress(() => now);
  return { progress, advanceMs: (ms: number) => (now += ms) };
}

describe("the mirror's lag", () => {
  it('is not known before everything was swept once', () => {
    const { progress } = createAt(0);
    progress.sawHead(10n);
    const complete = progress.beginSweep();
    expect(progress.lag()).toBeUndefined();
    complete();
    expect(progress.lag()).toEqual({ slots: 0, ms: 0 });
  });

  it('counts slots and time from the beginning of the last sweep that was completed', () => {
    const { progress, advanceMs } = createAt(5_000);
    progress.sawHead(10n);
    const complete = progress.beginSweep();
    progress.sawHead(14n);
    advanceMs(300);
    complete();
    expect(progress.lag()).toEqual({ slots: 4, ms: 300 });
    progress.beginSweep();
    progress.sawHead(20n);
    advanceMs(700);
    expect(progress.lag()).toEqual({ slots: 10, ms: 1_000 });
  });

  it('is none on a node that is behind the one before, and follows the node that is asked', () => {
    const { progress } = createAt(0);
    progress.sawHead(20n);
    progress.beginSweep()();
    const slots = [15n, 1_000n, 21n].map((slot) => {
      progress.sawHead(slot);
      return progress.lag()?.slots;
    });
    expect(slots).toEqual([0, 980, 1]);
  });

  it('is not known while another process keeps the mirror', () => {
    const { progress } = createAt(0);
    progress.beginSweep()();
    progress.forget();
    expect(progress.lag()).toBeUndefined();
  });
});
