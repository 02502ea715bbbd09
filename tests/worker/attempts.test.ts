import { describe, expect, it } from '@jest/globals';
import { createAttempts } from '../../worker/jobs/attempts.ts';

const JOBS_MAX = 100_000;
const DEADLINE_SHIFT_SECONDS_MAX = 120n;

/** A reading of a job that was locked at second 1,000 of the ledger and lives 120 s. */
const life = (unixSeconds: bigint) => ({ unixSeconds, deadlineSeconds: 1_120n });
const later = (unixSeconds: bigint) => ({ unixSeconds, deadlineSeconds: unixSeconds + 120n });

describe('the record of jobs', () => {
  it("keeps each until the ledger's clock is past its deadline", () => {
    const attempts = createAttempts();
    expect(attempts.take('job', 1, life(1_000n))).toBe(true);
    expect(attempts.take('job', 1, life(1_000n))).toBe(false);
    const past = 1_120n + DEADLINE_SHIFT_SECONDS_MAX;
    expect(attempts.take('other', 1, later(past))).toBe(true);
    expect(attempts.isOpen('job', 1)).toBe(false);
    expect(attempts.take('another', 1, later(past + 1n))).toBe(true);
    expect(attempts.isOpen('job', 1)).toBe(true);
  });

  it('takes a greater attempt only after one that ended without output', () => {
    const attempts = createAttempts();
    attempts.take('job', 2, life(1_000n));
    expect(attempts.take('job', 3, life(1_000n))).toBe(false);
    attempts.end('job');
    expect(attempts.take('job', 1, life(1_000n))).toBe(false);
    expect(attempts.take('job', 2, life(1_000n))).toBe(false);
    expect(attempts.take('job', 3, life(1_000n))).toBe(true);
    attempts.recordOutput('job');
    attempts.end('job');
    expect(attempts.take('job', 4, life(1_000n))).toBe(false);
  });

  it('refuses a job that it may have deleted, even if the clock falls back', () => {
    const attempts = createAttempts();
    expect(attempts.take('job', 1, life(1_000n))).toBe(true);
    expect(attempts.take('other', 1, later(2_000n))).toBe(true);
    expect(attempts.isOpen('job', 1)).toBe(true);
    expect(attempts.take('job', 1, life(1_001n))).toBe(false);
  });

  it('keeps an attempt of a job that was locked again a little later', () => {
    const attempts = createAttempts();
    expect(attempts.take('job', 1, life(1_000n))).toBe(true);
    const again = { unixSeconds: 1_121n, deadlineSeconds: 1_120n + DEADLINE_SHIFT_SECONDS_MAX };
    expect(attempts.take('job', 1, again)).toBe(false);
  });

  it('refuses jobs when it is full, but no later attempt, and deletes none', () => {
    const attempts = createAttempts();
    for (let index = 0; index < JOBS_MAX; index += 1) attempts.take(`${index}`, 1, life(1_000n));
    expect(attempts.take('one more', 1, life(1_000n))).toBe(false);
    attempts.end('1');
    expect(attempts.take('1', 2, life(1_000n))).toBe(true);
    expect(attempts.take('one more', 1, later(1_240n))).toBe(false);
    expect(attempts.isOpen('0', 1)).toBe(false);
    expect(attempts.take('one more', 1, later(1_241n))).toBe(true);
  });
});
