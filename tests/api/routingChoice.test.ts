import { describe, expect, it } from '@jest/globals';
import {
  type Cooldown,
  chooseWorker,
  type KnownWorker,
  newCooldown,
  recordBusy,
  recordFailure,
} from '../../api/workers/capacity.ts';
import { retryAfterSeconds } from '../../api/workers/directory.ts';
import { createRandom } from '../../testing/random.ts';
import { knownWorker, MODEL } from './routingWorker.ts';

const { seed, below } = createRandom();
const random = (): number => below(2 ** 32) / 2 ** 32;
const TIMES = 1_000;

/** How often each worker is chosen. */
function choices(workers: KnownWorker[], nowMs = 0): Record<string, number> {
  const counts = Object.fromEntries([...workers.map(({ address }) => [address, 0]), ['none', 0]]);
  for (let time = 0; time < TIMES; time += 1) {
    const chosen = chooseWorker(workers, { modelAddress: MODEL, nowMs, random });
    counts[chosen?.address ?? 'none'] = (counts[chosen?.address ?? 'none'] ?? 0) + 1;
  }
  return counts;
}

const quick = (known: Parameters<typeof knownWorker>[1] = {}) =>
  knownWorker('quick', { firstTokenMs: 100, ...known });
const slow = (firstTokenMs: number) => knownWorker('slow', { firstTokenMs });
const fresh = (inFlight: number) => knownWorker('new', { inFlight });
const sound = (known = {}) => knownWorker('sound', known);
/** Its cooldown ends at 2,000. */
const failed = (inFlight = 0) =>
  knownWorker('failed', { inFlight, cooldown: { failures: 1, coolUntilMs: 2_000 } });
const fooled = (failed_canaries = [MODEL]) =>
  knownWorker('fooled', { failed_canaries, firstTokenMs: 1 });
const silent = () => knownWorker('silent', { isSilent: true });

describe(`the choice among workers (seed ${seed})`, () => {
  it('spreads jobs over equal workers', () => {
    const counts = choices(['a', 'b', 'c', 'd'].map((address) => knownWorker(address)));
    for (const address of ['a', 'b', 'c', 'd']) expect(counts[address]).toBeGreaterThan(150);
    expect(counts.none).toBe(0);
  });

  it.each<[string, KnownWorker[], string, number?]>([
    ['the faster of two', [quick(), slow(200)], 'quick'],
    // 100 × 4 against 350 × 1
    ['one with less work', [quick({ inFlight: 1, inFlightElsewhere: 2 }), slow(350)], 'slow'],
    ['a new one, as fast as the best with as many jobs', [quick({ inFlight: 2 }), fresh(1)], 'new'],
    ['no new one with more jobs', [quick({ inFlight: 2 }), fresh(3)], 'quick'],
    ['no slow one within a minute', [quick({ inFlight: 1 }), slow(5_000)], 'quick', 60_000],
    ['a slow one after a minute', [quick({ inFlight: 1 }), slow(5_000)], 'slow', 60_001],
    ['none of full ones', [sound({ inFlight: 10 })], 'none'],
    ['no failed one where a sound one is full', [sound({ inFlight: 10 }), failed()], 'none'],
    ['a failed one after its cooldown', [sound({ inFlight: 5 }), failed()], 'failed', 2_000],
    ['no failed one with a job to prove it', [sound({ inFlight: 5 }), failed(1)], 'sound', 2_000],
    [
      'of failed ones that which is back first',
      [knownWorker('later', { cooldown: { failures: 3, coolUntilMs: 8_000 } }), failed(3)],
      'failed',
    ],
    [
      'a failed one before a busy one',
      [failed(), sound({ cooldown: { busyUntilMs: 1 } })],
      'failed',
    ],
    ['a failed one before one without capacity', [failed(), sound({ capacity: 0 })], 'failed'],
    ['a failed one before a silent one', [failed(), silent()], 'failed'],
    ['no silent one where another is left', [silent(), sound()], 'sound'],
    ['a silent one where no other is left', [silent()], 'silent'],
    ['none that failed its canary where a slow one is left', [fooled(), slow(9_000)], 'slow'],
    [
      'none that failed its canary where a sound one is full',
      [fooled(), sound({ inFlight: 10 })],
      'none',
    ],
    ['one that failed its canary before a failed one', [fooled(), failed(1)], 'fooled'],
    ['one that failed the canary of another model', [fooled(['other']), slow(9_000)], 'fooled'],
  ])('takes %s', (...[, workers, chosen, nowMs]) => {
    expect(choices(workers, nowMs)[chosen]).toBe(TIMES);
  });

  it('gives one that always fails only few of the jobs', () => {
    // given ten workers of which one fails at once, with any job
    const failing = knownWorker('failing', { firstTokenMs: 1 });
    const others = Array.from({ length: 9 }, (_, at) => knownWorker(`sound ${at}`));
    let given = 0;
    // when a hundred jobs a second come for ten minutes
    for (let nowMs = 0; nowMs < 600_000; nowMs += 10) {
      const choice = { modelAddress: MODEL, nowMs, random };
      if (chooseWorker([failing, ...others], choice) !== failing) continue;
      given += 1;
      recordFailure(failing.cooldown, nowMs, nowMs);
    }
    // then it had one for each of its cool-downs: 2, 4, 8, 16, 32, 60, 60, … seconds
    expect(given).toBeGreaterThanOrEqual(13);
    expect(given).toBeLessThanOrEqual(15);
  });
});

/** How long it cools down after each of so many failures, one after the other. */
function coolDowns(cooldown: Cooldown, failures: number): number[] {
  let nowMs = 0;
  return Array.from({ length: failures }, () => {
    recordFailure(cooldown, nowMs, nowMs);
    const coolDownMs = cooldown.coolUntilMs - nowMs;
    nowMs = cooldown.coolUntilMs;
    return coolDownMs;
  });
}

describe('a failing worker', () => {
  it('cools down twice as long each time, up to a minute', () => {
    const seconds = coolDowns(newCooldown(), 7).map((ms) => ms / 1_000);
    expect(seconds).toEqual([2, 4, 8, 16, 32, 60, 60]);
  });

  it('counts one incident, however many jobs failed with it', () => {
    // given ten jobs begun before the worker broke at 5,000
    const cooldown = newCooldown();
    for (let job = 0; job < 10; job += 1) recordFailure(cooldown, 1_000 + job, 5_000 + job);
    expect(cooldown).toMatchObject({ failures: 1, coolUntilMs: 7_000 });
    // when one that was begun afterwards fails, too
    recordFailure(cooldown, 7_000, 7_100);
    expect(cooldown).toMatchObject({ failures: 2, coolUntilMs: 11_100 });
  });
});

describe('a worker that is busy', () => {
  it.each([
    ['names a time: until then', 7_000, 17_000],
    ['names none: for a second', undefined, 11_000],
    ['names an hour: for a minute', 3_600_000, 70_000],
  ])('and %s', (_what, retryAfterMs, busyUntilMs) => {
    const cooldown = newCooldown();
    recordBusy(cooldown, retryAfterMs, 10_000);
    expect(cooldown).toEqual({ ...newCooldown(), busyUntilMs });
  });
});

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

  it(`is a whole number from 1 to 60 in every case (seed ${seed})`, () => {
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
        throw new Error(`round ${round}: ${seconds} s`);
      }
    }
  });
});
