import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSilence, type Silence } from '../../indexer/source/hints.ts';

let nowMs = 0;
let silence: Silence;

beforeEach(() => {
  nowMs = 0;
  silence = createSilence(() => nowMs);
});

function findAt(seconds: number): boolean {
  nowMs = seconds * 1_000;
  return silence.found();
}

function announceAt(seconds: number): void {
  nowMs = seconds * 1_000;
  silence.announced();
}

describe('a stream of hints', () => {
  it('is silent when sweeps found something for a minute of which it said nothing', () => {
    expect(findAt(60)).toBe(false);
    expect(findAt(119)).toBe(false);
    expect(findAt(120)).toBe(true);
  });

  it('is not silent while there is nothing to say', () => {
    announceAt(1);
    expect(findAt(600)).toBe(false);
    announceAt(601);
    expect(findAt(1_200)).toBe(false);
  });

  it('is not silent when each hint comes after the sweep that found the same', () => {
    for (let second = 100; second < 1_000; second += 90) {
      expect(findAt(second)).toBe(false);
      announceAt(second + 1);
    }
  });

  it('has its time again when it was replaced', () => {
    findAt(60);
    expect(findAt(120)).toBe(true);
    expect(findAt(180)).toBe(false);
    expect(findAt(239)).toBe(false);
    expect(findAt(240)).toBe(true);
  });
});
