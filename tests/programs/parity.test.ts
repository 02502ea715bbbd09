import { describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { creditOpen, IDL, jobClose } from '../../programs/client/index.ts';
import { pass } from './support/expectations.ts';
import { composeLock, refund } from './support/jobs.ts';
import { startTwins, type Twins } from './support/twins.ts';
import { walkThrough } from './support/walkthrough.ts';
import { addresses, createWorld } from './support/world.ts';

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

  // The Rent of the two splits rate and threshold in another way.
  it('pay equal rent for prefunded addresses, and return the same', async () => {
    const world = await createWorld({}, await startTwins());
    const { chain, hotSigner, stranger } = world;
    const minimum = (await chain.account(world.creditAccount))?.lamports ?? 0;
    for (const lamports of [1, minimum - 1, minimum, minimum + 1]) {
      const payer = await world.person();
      const wallet = payer.publicKey;
      const owner = SystemProgram.programId;
      const given = { lamports, data: new Uint8Array(), owner, executable: false };
      chain.setAccount(addresses.creditAccount(wallet), given);
      await chain.send([creditOpen({ payer: wallet, wallet })], [payer]);
    }
    const { instruction, job } = await composeLock(world);
    await chain.send([instruction], [hotSigner]);
    const gift = { fromPubkey: stranger.publicKey, toPubkey: job, lamports: 7 };
    await chain.send([SystemProgram.transfer(gift)], [stranger]);
    await pass(world, 122n);
    const close = jobClose({ job, rentPayer: chain.payer.publicKey });
    await chain.send([refund(world, job), close]);
    expect(await chain.account(job)).toBeNull();
  });
});
