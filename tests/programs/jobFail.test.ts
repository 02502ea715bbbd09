import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { FAILURE_REASONS } from '../../programs/client/generated/vocabulary.ts';
import { spenderSet } from '../../programs/client/index.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, expectUntil, pass } from './support/expectations.ts';
import { ANSWER, fail, jobIn, readJob } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { CREDITS, createWorld, hashOf, type World } from './support/world.ts';

let world: World;
const creditAccounts: PublicKey[] = [];
beforeAll(async () => {
  world = await createWorld();
  creditAccounts.push(world.creditAccount);
});
afterEach(() => expectConserved(world, { creditAccounts }));

/** Behind the instruction's discriminator. */
const REASON_OFFSET = 8;

describe('job_fail', () => {
  it.each(['pending', 'processing'] as const)(
    'returns the lock of a job that is %s, for each reason',
    async (status) => {
      for (const reason of FAILURE_REASONS.slice(1)) {
        const job = await jobIn(world, status);
        await pass(world, 3n);
        const before = await readJob(world, job);
        const account = await world.read('CreditAccount', world.creditAccount);
        const creditSequence = account.sequence + 1n;
        await expectEvent(world, [fail(world, job, { reason })], [world.hotSigner], 'JobFailed', {
          ...{ job, jobSequence: before.sequence + 1, jobId: before.jobId },
          ...{ creditAccount: world.creditAccount, creditSequence },
          ...{ wallet: world.wallet.publicKey, reason, returnedCredits: 8n },
          ...{ availableCredits: CREDITS, accountLockedCredits: 0n, spentTodayCredits: 0n },
        });
        expect(await readJob(world, job)).toEqual({
          ...before,
          sequence: before.sequence + 1,
          status: 'failed',
          failureReason: reason,
          endedAfterSeconds: 3,
        });
      }
      expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
        availableCredits: CREDITS,
        lockedCredits: 0n,
      });
    },
  );

  it('refuses an unknown reason', async () => {
    const job = await jobIn(world, 'pending');
    for (const byte of [0, FAILURE_REASONS.length, 255]) {
      const instruction = fail(world, job);
      instruction.data[REASON_OFFSET] = byte;
      await expectRefusal(world, 'InvalidReason', instruction, [world.hotSigner]);
    }
  });

  it('refuses to discard a proven output that was delivered', async () => {
    const job = await jobIn(world, 'settling');
    const delivered = fail(world, job, { deliveredHash: ANSWER, countedTokens: 1 });
    await expectRefusal(world, 'OutputMatches', delivered, [world.hotSigner]);
  });

  it.each([
    ['differs', { deliveredHash: hashOf('another'), countedTokens: 300 }],
    ['is empty', { deliveredHash: ANSWER, countedTokens: 0 }],
  ])('returns the lock when the delivered output %s', async (_, delivered) => {
    const job = await jobIn(world, 'settling');
    await world.chain.send(
      [fail(world, job, { reason: 'output_mismatch', ...delivered })],
      [world.hotSigner],
    );
    expect((await readJob(world, job)).status).toBe('failed');
  });

  it('succeeds until its deadline and fails a second after', async () => {
    const jobs = [
      await jobIn(world, 'processing'),
      await jobIn(world, 'processing'),
      await jobIn(world, 'processing'),
    ];
    const sent = jobs.map((job) => fail(world, job));
    await expectUntil(world, 120n, 'DeadlinePassed', sent, [world.hotSigner]);
  });

  it('refuses every signer but the controller', async () => {
    const job = await jobIn(world, 'processing');
    for (const signer of [world.wallet, world.stranger, world.workerAuthority]) {
      const instruction = fail(world, job, { signer: signer.publicKey });
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
  });

  it.each(['settled', 'failed', 'refunded', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await expectRefusal(world, 'WrongJobStatus', fail(world, job), [world.hotSigner]);
    },
  );

  it('refuses every signer but the controller, even after a change of spender', async () => {
    const { chain, wallet, stranger, hotSigner } = world;
    const job = await jobIn(world, 'processing');
    const set = (spender: PublicKey) =>
      spenderSet({ wallet: wallet.publicKey, spender, ...UNLIMITED });
    await chain.send([set(stranger.publicKey)], [wallet]);
    const byNew = fail(world, job, { signer: stranger.publicKey });
    await expectRefusal(world, 'Unauthorized', byNew, [stranger]);
    await chain.send([fail(world, job)], [hotSigner]);
    await chain.send([set(world.gateway)], [wallet]);
  });

  it('refuses any credit account but the job’s', async () => {
    const job = await jobIn(world, 'pending');
    const other = await addWallet(world);
    const theft = fail(world, job, { creditAccount: other.creditAccount });
    await expectRefusal(world, 'WrongAddress', theft, [world.hotSigner]);
    const ofWorker = fail(world, job, { creditAccount: world.worker });
    await expectRefusal(world, 'WrongDiscriminator', ofWorker, [world.hotSigner]);
    creditAccounts.push(other.creditAccount);
  });
});
