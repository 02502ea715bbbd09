import { describe, expect, it } from '@jest/globals';
import { createAttempts } from '../../worker/attempts.ts';

const ATTEMPTS_MAX = 100_000;
const MEMORY_MS = 180_000;

describe('the memory of attempts', () => {
  it('holds each until a repetition is refused by clock and ledger anyway', () => {
    let nowMs = 0;
    const attempts = createAttempts(() => nowMs);
    expect(attempts.take('job:1')).toBe(true);
    nowMs = MEMORY_MS - 1;
    expect(attempts.take('job:1')).toBe(false);
    expect(attempts.isTaken('job:1')).toBe(true);
    nowMs = MEMORY_MS;
    expect(attempts.take('job:1')).toBe(true);
  });

  it('refuses when it is full instead of forgetting', () => {
    let nowMs = 0;
    const attempts = createAttempts(() => nowMs);
    for (let index = 0; index < ATTEMPTS_MAX; index += 1) attempts.take(`job:${index}`);
    expect(attempts.take('one more')).toBe(false);
    expect(attempts.isTaken('job:0')).toBe(true);
    nowMs = MEMORY_MS;
    expect(attempts.take('one more')).toBe(true);
  });
});
