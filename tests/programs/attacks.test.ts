import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import {
  claimPay,
  creditOpen,
  disputeExpire,
  jobClose,
  jobRefund,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { jobIn, lockJob, readJob } from './support/jobs.ts';
import { freeze } from './support/parties.ts';
import { decide } from './support/verdicts.ts';
import { addresses, CREDITS, createWorld, send, type World } from './support/world.ts';

/** What one job of the test model is charged. */
const CHARGE = 8n;
/** What the treasury receives of it, in whole credits. */
const TREASURY_CREDITS = 1n;

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const balance = () => world.read('CreditAccount', world.creditAccount);
describe('a worker that convicts itself behind a vouched gateway', () => {
  const owedCredits = async () => (await balance()).owedCredits;

  it('gets back the treasury’s share alone if a token of the slash is missing', async () => {
    world = await createWorld({ slashTokens: 501 });
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')];
    for (const job of jobs) await decide(world, job, 'upheld_worker');
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: 0n });
    expect(await owedCredits()).toBe(CHARGE + TREASURY_CREDITS);
    const charged = await Promise.all(
      jobs.map(async (job) => (await readJob(world, job)).chargedCredits),
    );
    expect(charged).toEqual([0n, CHARGE - TREASURY_CREDITS]);
  });
});

describe('a stolen crank’s key', () => {
  it('gets nothing by any of its duties: no credit, no token, no rent', async () => {
    const { chain, stranger: thief, creditMint, worker, payout } = world;
    const wallet = thief.publicKey;
    await send(world, creditOpen({ payer: wallet, wallet }));
    const creditAccount = addresses.creditAccount(wallet);
    const tokens = world.token(creditMint, wallet);
    const thaw = await freeze(world, payout);
    const [closable, disputed] = [await jobIn(world, 'failed'), await jobIn(world, 'disputed')];
    await pass(world, 86_401n);
    const overdue = await lockJob(world);
    await pass(world, 121n);
    const duties = (own: PublicKey, rentPayer: PublicKey, payee: PublicKey) => [
      jobRefund({ job: overdue, creditAccount: own }),
      disputeExpire({ job: disputed, creditAccount: own }),
      claimPay({ claimant: worker, payout: payee }),
      jobClose({ job: closable, rentPayer }),
    ];
    for (const theft of duties(creditAccount, wallet, tokens)) {
      await expect(send(world, theft)).rejects.toThrow(/^(WrongAddress|WrongRentPayer)$/);
    }

    // Done as they are meant to be, each owner gets what is theirs.
    thaw();
    const before = (await chain.account(wallet))?.lamports;
    await send(world, ...duties(world.creditAccount, chain.payer.publicKey, payout));
    expect((await chain.account(wallet))?.lamports).toBe(before);
    expect([await chain.tokens(tokens), await chain.tokens(payout)]).toEqual([0n, 68_000n]);
    const none = { availableCredits: 0n, lockedCredits: 0n, owedCredits: 0n };
    expect(await world.read('CreditAccount', creditAccount)).toMatchObject(none);
    const held = { availableCredits: CREDITS - CHARGE, lockedCredits: 0n };
    expect(await balance()).toMatchObject(held);
  });
});
