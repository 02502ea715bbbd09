import { beforeAll, describe, expect, it } from '@jest/globals';
import { COSTS } from '../../programs/client/sender/costs.ts';
import { walkThrough } from '../programs/support/walkthrough.ts';

/** In LiteSVM, whose token program is that of clusters. */
const measured: Record<string, number> = {};

beforeAll(() =>
  walkThrough(async ({ world, name, instructions, signers }) => {
    const nothing = await world.chain.send([]);
    measured[name] = (await world.chain.send(instructions, signers)) - nothing;
  }),
);

describe('the compute units that an instruction is given', () => {
  it.each(Object.entries(COSTS))('are a seventh above what %s takes', (name, { computeUnits }) => {
    const share = computeUnits / Number(measured[name]);
    expect(share).toBeGreaterThanOrEqual(1.15);
    expect(share).toBeLessThanOrEqual(1.2);
  });
});
