import { describe, expect, it } from '@jest/globals';
import { createProgress } from '../../indexer/mirror/progress.ts';

function createAt(nowMs: number) {
  let now = nowMs;
  const progress = createProgress(() => now);
  return { progress, advanceMs: (ms: number) => (now += ms) };
}

describe("the mirror's lag", () => {
  it('counts slots and time from the start of the last complete sweep', () => {
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

  it('is zero on a node behind the previous one, and follows the current', () => {
    const { progress } = createAt(0);
    progress.sawHead(20n);
    progress.beginSweep()();
    const slots = [15n, 1_000n, 21n].map((slot) => {
      progress.sawHead(slot);
      return progress.lag()?.slots;
    });
    expect(slots).toEqual([0, 980, 1]);
  });

  it('is unknown after a sweep that ended when this process no longer led', () => {
    const { progress } = createAt(0);
    const complete = progress.beginSweep();
    progress.forget();
    complete();
    expect(progress.lag()).toBeUndefined();
  });
});

describe('the time that the mirror has been incomplete', () => {
  it('adds up over two processes in turn, without their time on standby', () => {
    const { progress, advanceMs } = createAt(0);
    for (let turn = 0; turn < 10; turn += 1) {
      progress.lead();
      advanceMs(4_000);
      progress.forget();
      progress.standBy();
      expect(progress.incompleteMs()).toBeUndefined();
      advanceMs(1_000_000);
      progress.standBy();
    }
    progress.lead();
    expect(progress.incompleteMs()).toBe(40_000);
  });

  it('restarts for a process that was on standby after a complete sweep', () => {
    const { progress, advanceMs } = createAt(0);
    progress.lead();
    advanceMs(90_000);
    progress.beginSweep()();
    progress.forget();
    progress.standBy();
    advanceMs(90_000);
    progress.lead();
    expect(progress.incompleteMs()).toBe(0);
  });
});
