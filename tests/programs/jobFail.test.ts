import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, fail, jobIn, readJob, STATUS } from './support/jobs.ts';
import { CREDITS, createWorld, hashOf, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

describe('job_fail', () => {
  it.each(['pending', 'processing'] as const)(
    'returns the lock of a job that is %s, for each reason',
    async (status) => {
      for (const reason of [1, 2, 3, 4, 5, 6, 7]) {
        const job = await jobIn(world, status);
        await pass(world, 3n);
        await world.chain.send([fail(world, job, { reason })], [world.hotSigner]);
        expect(await readJob(world, job)).toMatchObject({
          status: STATUS.failed,
          failureReason: reason,
          lockedCredits: 8n,
          chargedCredits: 0n,
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
    for (const reason of [0, 8, 255]) {
      await expectRefusal(world, 'InvalidReason', fail(world, job, { reason }), [world.hotSigner]);
    }
  });

  it('refuses to throw away a proven output that was delivered', async () => {
    const job = await jobIn(world, 'settling');
    const delivered = fail(world, job, { deliveredHash: ANSWER, countedTokens: 1 });
    await expectRefusal(world, 'OutputMatches', delivered, [world.hotSigner]);
  });

  it.each([
    ['differs', { deliveredHash: hashOf('another'), countedTokens: 300 }],
    ['is empty', { deliveredHash: ANSWER, countedTokens: 0 }],
  ])('returns the lock when the delivered output %s', async (_, delivered) => {
    const job = await jobIn(world, 'settling');
    await world.chain.send([fail(world, job, { reason: 4, ...delivered })], [world.hotSigner]);
    expect((await readJob(world, job)).status).toBe(STATUS.failed);
  });

  it('is in time at the deadline and late a second after', async () => {
    const job = await jobIn(world, 'processing');
    const other = await jobIn(world, 'processing');
    await pass(world, 120n);
    await world.chain.send([fail(world, job)], [world.hotSigner]);
    await pass(world, 1n);
    await expectRefusal(world, 'DeadlinePassed', fail(world, other), [world.hotSigner]);
  });

  it('refuses everybody but the controller', async () => {
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

  it('refuses another wallet’s credit account', async () => {
    const job = await jobIn(world, 'pending');
    const instruction = fail(world, job, { creditAccount: world.worker });
    await expectRefusal(world, 'WrongDiscriminator', instruction, [world.hotSigner]);
  });
});
