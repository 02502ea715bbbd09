import { describe, expect, it } from '@jest/globals';
import type { KnownWorker } from '../../api/workers/choice.ts';
import { retryAfterSeconds } from '../../api/workers/directory.ts';
import { createRandom } from '../../testing/random.ts';
import { knownWorker } from './routingWorker.ts';

const nowMs = 100_000;
const retryAfter = (workers: KnownWorker[], waiting = 0) =>
  retryAfterSeconds({ workers, waiting, nowMs });

/** A capacity of ten, all in use, each by a job of `jobMs`. */
const full = (jobMs: number) => knownWorker('full', { inFlight: 10, jobMs });

describe('the Retry-After for a worker', () => {
  it('is the maximum when no worker hosts the model', () => {
    expect(retryAfter([])).toBe(60);
  });

  it.each([
    // ten jobs of 40 s: one ends every 4 s
    ['one full worker', [full(40_000)], 0, 4],
    ['two full workers', [full(40_000), full(40_000)], 0, 2],
    ['two others waiting before', [full(40_000)], 2, 12],
    ['quick jobs', [full(200)], 0, 1],
    ['a queue that lasts minutes', [full(60_000)], 500, 60],
    // ten jobs taken for 2 s each: one every 200 ms
    ['jobs of which none has ended yet', [full(0)], 9, 2],
  ])('follows how soon capacity is released: %s', (_what, workers, waiting, seconds) => {
    expect(retryAfter(workers, waiting)).toBe(seconds);
  });

  it.each([
    ['cools down', { failures: 3, coolUntilMs: nowMs + 7_300 }, 8],
    ['reports itself busy', { busyUntilMs: nowMs + 4_000 }, 4],
    ['is due', { failures: 1, coolUntilMs: nowMs - 5 }, 1],
  ])('ends when a worker with free capacity returns: one that %s', (_what, cooldown, seconds) => {
    const back = knownWorker('back', { cooldown });
    expect(retryAfter([back])).toBe(seconds);
    expect(retryAfter([full(600_000), back])).toBe(seconds);
  });

  it.each([
    ['was never probed', { probedAtMs: Number.NEGATIVE_INFINITY, capacity: 0 }, 1],
    ['offers no capacity at present', { answeredAtMs: nowMs - 2_000, capacity: 0 }, 3],
    ['missed its last probe', { answeredAtMs: nowMs - 7_000, isSilent: true }, 7],
    ['has been unreachable for long', { answeredAtMs: nowMs - 600_000, isSilent: true }, 60],
    ['never answered', { answeredAtMs: Number.NEGATIVE_INFINITY, isSilent: true, capacity: 0 }, 60],
  ])('ends at the next probe of a worker that %s', (_what, known, seconds) => {
    expect(retryAfter([knownWorker('away', { probedAtMs: nowMs - 2_000, ...known })])).toBe(
      seconds,
    );
  });

  it('is a whole number from 1 to 60 in every case', () => {
    const { seed, below } = createRandom();
    const moment = () => nowMs + below(200_000) - 100_000;
    for (let round = 0; round < 2_000; round += 1) {
      const workers = Array.from({ length: below(4) }, (_, at) =>
        knownWorker(String(at), {
          ...{ capacity: below(3), inFlight: below(4), jobMs: below(3) * below(100_000) },
          ...{ isSilent: below(2) === 0, probedAtMs: nowMs - below(5_000), answeredAtMs: moment() },
          cooldown: { coolUntilMs: moment(), busyUntilMs: moment(), failures: below(3) },
        }),
      );
      const seconds = retryAfter(workers, below(50));
      if (!Number.isInteger(seconds) || seconds < 1 || seconds > 60) {
        throw new Error(`seed ${seed}, round ${round}: ${seconds} s`);
      }
    }
  });
});
