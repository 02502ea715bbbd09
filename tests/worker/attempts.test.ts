import { describe, expect, it } from '@jest/globals';
import { createAttempts } from '../../worker/jobs/attempts.ts';

const ATTEMPTS_MAX = 100_000;
const DEADLINE_SHIFT_SECONDS_MAX = 120n;

/** A reading of a job that was locked at second 1,000 of the ledger and lives 120 s. */
const life = (unixSeconds: bigint) => ({ unixSeconds, deadlineSeconds: 1_120n });
const later = (unixSeconds: bigint) => ({ unixSeconds, deadlineSeconds: unixSeconds + 120n });

describe('the record of attempts', () => {
  it("keeps each until the ledger's clock is past its job's deadline", () => {
    const attempts = createAttempts();
    expect(attempts.take('job:1', life(1_000n))).toBe(true);
    expect(attempts.take('job:1', life(1_000n))).toBe(false);
    const past = 1_120n + DEADLINE_SHIFT_SECONDS_MAX;
    expect(attempts.take('other:1', later(past))).toBe(true);
    expect(attempts.isTaken('job:1')).toBe(true);
    expect(attempts.take('other:2', later(past + 1n))).toBe(true);
    expect(attempts.isTaken('job:1')).toBe(false);
  });

  it("refuses attempts of a job that it may have deleted, even if the ledger's clock falls back", () => {
    const attempts = createAttempts();
    expect(attempts.take('job:1', life(1_000n))).toBe(true);
    expect(attempts.take('other:1', later(2_000n))).toBe(true);
    expect(attempts.isTaken('job:1')).toBe(false);
    expect(attempts.take('job:1', life(1_001n))).toBe(false);
  });

  it('keeps an attempt of a job that was locked again a little later', () => {
    const attempts = createAttempts();
    expect(attempts.take('job:1', life(1_000n))).toBe(true);
    const again = { unixSeconds: 1_121n, deadlineSeconds: 1_120n + DEADLINE_SHIFT_SECONDS_MAX };
    expect(attempts.take('job:1', again)).toBe(false);
  });

  it('refuses attempts when it is full and deletes none', () => {
    const attempts = createAttempts();
    for (let index = 0; index < ATTEMPTS_MAX; index += 1) {
      attempts.take(`job:${index}`, life(1_000n));
    }
    expect(attempts.take('one more', life(1_000n))).toBe(false);
    expect(attempts.take('one more', later(1_240n))).toBe(false);
    expect(attempts.isTaken('job:0')).toBe(true);
    expect(attempts.take('one more', later(1_241n))).toBe(true);
  });
});
