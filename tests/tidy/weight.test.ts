import { describe, expect, it } from '@jest/globals';
import { readSource } from './sourceTree.ts';
import { raises, readLimits, weigh } from './weight.ts';

/** So many lines may go before the limit has to follow. */
const SLACK = 50;

describe('the weight of each folder', () => {
  const limits = readLimits();
  const now = weigh();

  it('is at most what tests/tidy/weight.json allows', () => {
    const heavier = Object.entries(now).filter(([folder, lines]) => lines > (limits[folder] ?? 0));
    expect(heavier).toEqual([]);
  });

  it('is written down once it is lower: npm run counts -- --lower', () => {
    const lighter = Object.entries(limits).filter(
      ([folder, most]) => most - (now[folder] ?? 0) > SLACK,
    );
    expect(lighter).toEqual([]);
  });

  it('was raised only for an ability that the changelog names', () => {
    const changelog = readSource('CHANGELOG.md');
    expect(raises().filter((raise) => !changelog.includes(raise))).toEqual([]);
  });
});
