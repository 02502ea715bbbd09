import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { composeLock, fail, lockJob, readJob } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, MODEL, SETTINGS, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);

// What it refuses: support/refusals/jobs.ts. What a day's limit counts: dayLimit.test.ts.
describe('job_lock', () => {
  it('moves the price from available to locked and copies the terms', async () => {
    const { instruction, job } = await composeLock(world, { tokenLimit: 3_000 });
    const { creditAccount, gateway, model, chain } = world;
    const { id, label, originator, contextWindowTokens, ...prices } = MODEL;
    const { treasuryShareBasisPoints, slashTokens } = SETTINGS;
    const lockedAt = await chain.now();
    const spentDay = Number(lockedAt / 86_400n);
    // 3,000 tokens at 4 credits per 1,000
    await expectEffect({ ...world, job }, instruction, 'JobLocked', {
      creditAccount: {
        availableCredits: CREDITS - 12n,
        lockedCredits: 12n,
        spentDay,
        spentTodayCredits: 12n,
      },
      job: {
        bump: 255,
        status: 'pending',
        attempt: 0,
        outcome: 'none',
        failureReason: 'none',
        creditAccount,
        controller: gateway,
        vouched: true,
        model,
        worker: PublicKey.default,
        rentPayer: chain.payer.publicKey,
        lockedAt,
        lockedCredits: 12n,
        chargedCredits: 0n,
        tokenLimit: 3_000,
        limitDay: spentDay,
        treasuryShareBasisPoints,
        slashTokens,
        jobTimeoutSeconds: 120,
        disputeWindowSeconds: 60,
        arbitrationWindowSeconds: 86_400,
        ...prices,
      },
      said: { modelId: id },
    });
  });

  it.each([
    // up to the threshold a request; above it ceil(tokens × 4 / 1000), never below a request
    [1, 8n],
    [500, 8n],
    [501, 8n],
    [2_000, 8n],
    [2_001, 9n],
    [32_768, 132n],
  ])(
    'locks for a limit of %i tokens %i credits [charging.lock-amount]',
    async (tokenLimit, credits) => {
      await lockJob(world, { tokenLimit });
      expect((await account()).lockedCredits).toBe(credits);
    },
  );

  it('accepts the same id under two wallets as two separate jobs [jobs.ids]', async () => {
    const { keypair, creditAccount } = await addWallet(world);
    const theirs = { ...world, wallet: keypair, creditAccount };
    const { instruction, job, jobId } = await composeTwin(world, theirs);
    await send(world, instruction);
    const twin = addresses.job(creditAccount, jobId);
    const sameId = (await composeLock(theirs)).instruction;
    sameId.data.set(jobId, 8);
    await send(world, withAccount(sameId, 'job', twin));
    expect((await readJob(world, twin)).jobId).toEqual(jobId);
    await expectRefusal(world, 'WrongAddress', fail(world, twin));
    await send(world, fail(theirs, twin));
    expect((await readJob(world, job)).status).toBe('pending');
    expect((await account()).lockedCredits).toBe(8n);
  });
});

/** A lock whose id has the bump that the program takes under both wallets. */
async function composeTwin(own: World, { creditAccount }: World) {
  for (;;) {
    const lock = await composeLock(own);
    const seeds = [Buffer.from('job'), creditAccount.toBytes(), lock.jobId];
    if (PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)[1] === 255) return lock;
  }
}
