import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadForNode } from '../../testing/console/loadForNode.ts';

const BOUNDS = { name: 'Credits', most: 1_100n };

describe('an amount of credits that was entered', () => {
  let readCredits: (text: string, bounds: typeof BOUNDS) => { credits?: bigint; wrong?: string };
  beforeAll(async () => {
    ({ readCredits } = await loadForNode<{ readCredits: typeof readCredits }>(
      "export { readCredits } from './console/design/values.tsx';",
    ));
  });

  it.each([
    ...['0', '-1', '1e30', '1 000', '1,5', '', '1.5', String(2n ** 64n), '１００', '1,101', 'x'],
  ])('is refused with what it may be: %j', (text) => {
    const wrong = 'Credits: a whole number from 1 to 1,100.';
    expect(readCredits(text, BOUNDS)).toEqual({ wrong });
  });

  it.each([
    ['1', 1n],
    [' 1,000 ', 1_000n],
    ['1100', 1_100n],
  ])('is taken as it was written: %j', (text, credits) => {
    expect(readCredits(text, BOUNDS)).toEqual({ credits });
  });
});
