import { describe, expect, it } from '@jest/globals';
import { chooseWorker, type KnownWorker, recordFailure } from '../../api/workers/choice.ts';
import { createRandom } from '../../testing/random.ts';
import { knownWorker, MODEL } from './routingWorker.ts';

const { seed, below } = createRandom();
const random = (): number => below(2 ** 32) / 2 ** 32;

/** How often each worker is chosen. */
function choices(
  workers: KnownWorker[],
  { times = 1_000, nowMs = 0 }: { times?: number; nowMs?: number } = {},
): Record<string, number> {
  const counts = Object.fromEntries([...workers.map(({ address }) => [address, 0]), ['none', 0]]);
  for (let time = 0; time < times; time += 1) {
    const chosen = chooseWorker(workers, { modelAddress: MODEL, nowMs, random });
    counts[chosen?.address ?? 'none'] = (counts[chosen?.address ?? 'none'] ?? 0) + 1;
  }
  return counts;
}

describe(`the choice among workers (seed ${seed})`, () => {
  it('spreads jobs over equal workers', () => {
    const counts = choices(['a', 'b', 'c', 'd'].map((address) => knownWorker(address)));
    for (const address of ['a', 'b', 'c', 'd']) expect(counts[address]).toBeGreaterThan(150);
    expect(counts.none).toBe(0);
  });

  it('prefers the faster of two workers', () => {
    const workers = [
      knownWorker('quick', { firstTokenMs: 100 }),
      knownWorker('slow', { firstTokenMs: 200 }),
    ];
    expect(choices(workers)).toMatchObject({ quick: 1_000, slow: 0 });
  });

  it("counts each worker's jobs, including those of other processes", () => {
    const busy = { firstTokenMs: 100, inFlight: 1, inFlightElsewhere: 2 };
    const workers = [knownWorker('quick', busy), knownWorker('slow', { firstTokenMs: 350 })];
    // 100 × 4 against 350 × 1
    expect(choices(workers)).toMatchObject({ quick: 0, slow: 1_000 });
  });

  it('treats a new worker as fast as the best one with as many jobs', () => {
    const known = knownWorker('known', { firstTokenMs: 100, inFlight: 2 });
    expect(choices([known, knownWorker('new', { inFlight: 1 })]).new).toBe(1_000);
    expect(choices([known, knownWorker('new', { inFlight: 3 })]).known).toBe(1_000);
  });

  it('forgets after a minute that a worker was slow', () => {
    const workers = [
      knownWorker('quick', { firstTokenMs: 100, inFlight: 1 }),
      knownWorker('slow', { firstTokenMs: 5_000 }),
    ];
    expect(choices(workers, { nowMs: 60_000 }).slow).toBe(0);
    expect(choices(workers, { nowMs: 60_001 }).slow).toBe(1_000);
  });
});

describe('a failed worker', () => {
  const cooling = { failures: 1, coolUntilMs: 2_000 };

  it('gets no job in place of a healthy worker that is only full', () => {
    const full = knownWorker('sound', { inFlight: 10 });
    expect(choices([full, knownWorker('failed', { cooldown: cooling })]).none).toBe(1_000);
  });

  it('gets one job at a time after its cooldown', () => {
    const trial = (inFlight: number) => [
      knownWorker('sound', { inFlight: 5 }),
      knownWorker('failed', { cooldown: cooling, inFlight }),
    ];
    expect(choices(trial(0), { nowMs: 2_000 }).failed).toBe(1_000);
    expect(choices(trial(1), { nowMs: 2_000 }).failed).toBe(0);
  });

  it('gets a job when all have failed and its cooldown ends first', () => {
    const workers = [
      knownWorker('later', { cooldown: { failures: 3, coolUntilMs: 8_000 } }),
      knownWorker('sooner', { cooldown: cooling, inFlight: 3 }),
    ];
    expect(choices(workers)).toMatchObject({ sooner: 1_000, later: 0 });
  });

  it.each([
    ['reports itself busy', { cooldown: { busyUntilMs: 1 } }],
    ['offers no capacity', { capacity: 0 }],
    ['did not answer its last probe', { isSilent: true }],
  ])('gets a job when the only other one %s', (_what, other) => {
    const workers = [knownWorker('failed', { cooldown: cooling }), knownWorker('other', other)];
    expect(choices(workers).failed).toBe(1_000);
  });

  it('gets only few of the jobs when it is one of many', () => {
    // given ten workers of which one fails at once, with any job
    const failing = knownWorker('failing', { firstTokenMs: 1 });
    const sound = Array.from({ length: 9 }, (_, at) => knownWorker(`sound ${at}`));
    let given = 0;
    // when a hundred jobs a second come for ten minutes
    for (let nowMs = 0; nowMs < 600_000; nowMs += 10) {
      const choice = { modelAddress: MODEL, nowMs, random };
      if (chooseWorker([failing, ...sound], choice) !== failing) continue;
      given += 1;
      recordFailure(failing.cooldown, nowMs, nowMs);
    }
    // then it had one for each of its cool-downs: 2, 4, 8, 16, 32, 60, 60, … seconds
    expect(given).toBeGreaterThanOrEqual(13);
    expect(given).toBeLessThanOrEqual(15);
  });
});

describe('a worker that did not answer its last probe', () => {
  it('gets a job only when no other is left, and after those in cooldown', () => {
    const silent = knownWorker('silent', { isSilent: true });
    const failed = knownWorker('failed', { cooldown: { failures: 6, coolUntilMs: 60_000 } });
    expect(choices([silent, knownWorker('sound')]).sound).toBe(1_000);
    expect(choices([silent, failed]).failed).toBe(1_000);
    expect(choices([silent]).silent).toBe(1_000);
  });
});
