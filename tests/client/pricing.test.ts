import { describe, expect, it } from '@jest/globals';
import {
  affordableTokens,
  chargeCredits,
  freeTokenLimit,
  lockCredits,
  type Price,
  repayableCredits,
  treasuryCredits,
} from '../../programs/client/pricing.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();

const price = (creditsPerRequest: number, creditsPer1kTokens: number): Price => ({
  creditsPerRequest,
  creditsPer1kTokens,
  longCompletionThresholdTokens: 500,
});
const MAX = price(40, 20);
const LAUNCH = [MAX, price(18, 9), price(8, 4), price(2, 1)];

describe('prices', () => {
  it('lock the price of a request, or more when the token limit costs more [charging.lock-amount]', () => {
    expect(lockCredits(MAX, 1)).toBe(40n);
    expect(lockCredits(MAX, 500)).toBe(40n);
    expect(lockCredits(MAX, 2_000)).toBe(40n);
    expect(lockCredits(MAX, 2_001)).toBe(41n);
    expect(lockCredits(MAX, 128_000)).toBe(2_560n);
  });

  it('are per request up to the threshold, then per token, rounded up [charging.threshold]', () => {
    expect(chargeCredits(MAX, 0, 40n)).toBe(40n);
    expect(chargeCredits(MAX, 500, 40n)).toBe(40n);
    expect(chargeCredits(MAX, 501, 40n)).toBe(11n);
    expect(chargeCredits(MAX, 1_000, 40n)).toBe(20n);
    expect(chargeCredits(MAX, 1_001, 40n)).toBe(21n);
  });

  it('never charge more than was locked [charging.never-above-lock]', () => {
    expect(chargeCredits(MAX, 4_000_000_000, 41n)).toBe(41n);
  });

  it('repay all of a vouched gateway, else the treasury’s share', () => {
    const job = { vouched: false, treasuryShareBasisPoints: 1_500 };
    expect(repayableCredits(40n, { ...job, vouched: true })).toBe(40n);
    expect(repayableCredits(40n, job)).toBe(6n);
    expect(treasuryCredits(40n, job)).toBe(6n);
    expect(repayableCredits(39n, job)).toBe(5n);
    expect(repayableCredits(39n, { ...job, treasuryShareBasisPoints: 10_000 })).toBe(39n);
    expect(repayableCredits(40n, { ...job, treasuryShareBasisPoints: 0 })).toBe(0n);
  });

  it('allow 2,000 tokens for the price of a request in every launch model [charging.launch-prices]', () => {
    for (const launch of LAUNCH) {
      expect(freeTokenLimit(launch)).toBe(2_000);
      expect(lockCredits(launch, 2_000)).toBe(BigInt(launch.creditsPerRequest));
    }
  });

  it('allow no tokens below a request’s price, and at most the largest limit', () => {
    expect(affordableTokens(MAX, 39n)).toBe(0);
    expect(affordableTokens(MAX, 40n)).toBe(2_000);
    expect(affordableTokens(MAX, 2n ** 64n - 1n)).toBe(2 ** 32 - 1);
  });
});

describe(`any price (seed ${random.seed})`, () => {
  const cases = Array.from({ length: 500 }, () => ({
    some: {
      creditsPerRequest: 1 + random.below(100),
      creditsPer1kTokens: 1 + random.below(100),
      longCompletionThresholdTokens: random.below(4_000),
    },
    credits: BigInt(random.below(10_000)),
    tokens: random.below(200_000),
  }));

  it('allows exactly the tokens with a lock that the credits cover', () => {
    for (const { some, credits } of cases) {
      const tokens = affordableTokens(some, credits);
      if (tokens > 0) expect(lockCredits(some, tokens)).toBeLessThanOrEqual(credits);
      expect(lockCredits(some, tokens + 1)).toBeGreaterThan(credits);
    }
  });

  it('charges at most the lock for any part of an answer', () => {
    for (const { some, tokens } of cases) {
      const locked = lockCredits(some, tokens);
      const part = random.below(tokens + 1);
      expect(chargeCredits(some, part, locked)).toBe(chargeCredits(some, part, 2n ** 64n));
    }
  });
});
