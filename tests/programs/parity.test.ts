import { describe, expect, it } from '@jest/globals';
import { IDL } from '../../programs/client/index.ts';
import { startTwins, type Twins } from './support/twins.ts';
import { walkThrough } from './support/walkthrough.ts';

// Everywhere else the program runs in LiteSVM, as clusters run it.
describe('both builds of the program, in solana-bankrun and in LiteSVM', () => {
  it('leave equal accounts after every instruction', async () => {
    const taken: string[] = [];
    const chains: Twins[] = [];
    await walkThrough(
      async ({ world: { chain }, name, instructions, signers }) => {
        await chain.send(instructions, signers);
        taken.push(name);
      },
      async () => {
        const twins = await startTwins();
        chains.push(twins);
        return twins;
      },
    );
    expect([...new Set(taken)].sort()).toEqual(IDL.instructions.map(({ name }) => name).sort());
    for (const twins of chains) expect(twins.compared()).toBeGreaterThan(0);
  });
});
