import { beforeEach, describe, expect, it } from '@jest/globals';
import { createStreamWatchdog } from '../../indexer/source/hints.ts';

let nowMs = 0;
let watchdog: ReturnType<typeof createStreamWatchdog>;

beforeEach(() => {
  nowMs = 0;
  watchdog = createStreamWatchdog(() => nowMs);
});

function findAt(seconds: number): boolean {
  nowMs = seconds * 1_000;
  return watchdog.found();
}

function announceAt(seconds: number): void {
  nowMs = seconds * 1_000;
  watchdog.received();
}

describe('a log subscription', () => {
  it('counts as silent after it missed what sweeps found for a minute', () => {
    expect(findAt(60)).toBe(false);
    expect(findAt(119)).toBe(false);
    expect(findAt(120)).toBe(true);
  });

  it('does not count as silent while sweeps find nothing', () => {
    announceAt(1);
    expect(findAt(600)).toBe(false);
    announceAt(601);
    expect(findAt(1_200)).toBe(false);
  });

  it('is not silent when each hint follows the sweep that found the same', () => {
    for (let second = 100; second < 1_000; second += 90) {
      expect(findAt(second)).toBe(false);
      announceAt(second + 1);
    }
  });

  it('gets a whole minute again after it was replaced', () => {
    findAt(60);
    expect(findAt(120)).toBe(true);
    expect(findAt(180)).toBe(false);
    expect(findAt(239)).toBe(false);
    expect(findAt(240)).toBe(true);
  });
});
