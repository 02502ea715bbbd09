import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { creditOpen, pauseSet } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn, lockJob, readJob, refund } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

describe('job_refund', () => {
  it.each(['pending', 'processing', 'settling'] as const)(
    'returns the lock of an overdue job that is %s, for any caller [failures.timeout]',
    async (status) => {
      const account = () => world.read('CreditAccount', world.creditAccount);
      const { availableCredits, spentTodayCredits } = await account();
      const job = await jobIn(world, status);
      await pass(world, 119n);
      await expectRefusal(world, 'DeadlineNotReached', refund(world, job));
      await pass(world, 1n);
      await expectRefusal(world, 'DeadlineNotReached', refund(world, job));
      await pass(world, 1n);
      const before = await readJob(world, job);
      const locked = await account();
      await expectEvent(world, [refund(world, job)], [], 'JobRefunded', {
        ...{ job, jobSequence: before.sequence + 1, jobId: before.jobId },
        ...{ creditAccount: world.creditAccount, creditSequence: locked.sequence + 1n },
        ...{ wallet: world.wallet.publicKey, returnedCredits: 8n },
        ...{ availableCredits, accountLockedCredits: 0n, spentTodayCredits },
      });
      expect(await readJob(world, job)).toEqual({
        ...before,
        sequence: before.sequence + 1,
        status: 'refunded',
        endedAfterSeconds: 121,
      });
      expect(await account()).toEqual({
        ...locked,
        sequence: locked.sequence + 1n,
        availableCredits,
        lockedCredits: 0n,
        spentTodayCredits,
      });
      await expectRefusal(world, 'WrongJobStatus', refund(world, job));
    },
  );

  it.each(['settled', 'failed', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await pass(world, 121n);
      await expectRefusal(world, 'WrongJobStatus', refund(world, job));
    },
  );

  it('works while everything is paused', async () => {
    const { chain, authority } = world;
    const job = await lockJob(world);
    await pass(world, 121n);
    const pause = (paused: boolean) =>
      pauseSet({ authority: authority.publicKey, depositsPaused: paused, locksPaused: paused });
    await chain.send([pause(true), refund(world, job), pause(false)], [authority]);
    expect((await readJob(world, job)).status).toBe('refunded');
  });

  it('refuses another wallet', async () => {
    const { chain, stranger } = world;
    const other = { payer: stranger.publicKey, wallet: stranger.publicKey };
    await chain.send([creditOpen(other)], [stranger]);
    const job = await lockJob(world);
    await pass(world, 121n);
    const theft = withAccount(
      refund(world, job),
      'credit_account',
      addresses.creditAccount(stranger.publicKey),
    );
    await expectRefusal(world, 'WrongAddress', theft);
  });
});
