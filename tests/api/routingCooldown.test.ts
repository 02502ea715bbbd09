import { describe, expect, it } from '@jest/globals';
import { type Cooldown, newCooldown, recordBusy, recordFailure } from '../../api/workers/choice.ts';

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
