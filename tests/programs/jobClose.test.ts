import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type PublicKey, SystemProgram } from '@solana/web3.js';
import { disputeExpire, jobClose } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { acknowledge, composeLock, jobIn, lockJob, prove, refund, settle } from './support/jobs.ts';
import { composeVerdict } from './support/verdicts.ts';
import { createWorld, type World } from './support/world.ts';

const DAY = 86_400n;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const close = (job: PublicKey, rentPayer = world.chain.payer.publicKey) =>
  jobClose({ job, rentPayer });

describe('job_close', () => {
  it('repays the rent to its payer, for any caller', async () => {
    const { chain, stranger } = world;
    const job = await jobIn(world, 'failed');
    await pass(world, 120n);
    await expectRefusal(world, 'WrongRentPayer', close(job, stranger.publicKey));
    const rent = (await chain.account(job))?.lamports ?? 0;
    const before = (await chain.account(chain.payer.publicKey))?.lamports ?? 0;
    const { jobId, sequence } = await world.read('Job', job);
    const rentPayer = chain.payer.publicKey;
    await expectEvent(world, [close(job)], [], 'JobClosed', {
      ...{ job, jobSequence: sequence + 1, jobId, rentPayer, rentLamports: BigInt(rent) },
    });
    expect(await chain.account(job)).toBeNull();
    const after = (await chain.account(chain.payer.publicKey))?.lamports ?? 0;
    // one signature of 5,000 lamports
    expect(after).toBe(before + rent - 5_000);
  });

  it('closes it then, even after ids for a chain that is ahead', async () => {
    const ahead = await createWorld();
    await ahead.chain.setTime((await world.chain.now()) + 3n);
    await composeLock(ahead);
    const job = await jobIn(world, 'failed');
    await pass(world, 120n);
    await world.chain.send([close(job)]);
    expect(await world.chain.account(job)).toBeNull();
  });

  it.each([
    ['failed', 120n],
    // jobIn lets the job's time pass
    ['refunded', 0n],
    ['settled', 120n],
  ] as const)('closes a %s job 120 seconds after its id’s time', async (status, seconds) => {
    const job = await jobIn(world, status);
    if (seconds > 0n) {
      await pass(world, seconds - 1n);
      await expectRefusal(world, 'JobNotClosable', close(job));
      await pass(world, 1n);
    }
    await world.chain.send([close(job)]);
  });

  it('counts from the id’s time, even if that is ahead of the lock', async () => {
    const job = await jobIn(world, 'failed', { idAgeMs: -30_000 });
    await pass(world, 149n);
    await expectRefusal(world, 'JobNotClosable', close(job));
    await pass(world, 1n);
    await world.chain.send([close(job)]);
  });

  it('keeps a settled job during its dispute window', async () => {
    const job = await lockJob(world, { idAgeMs: 60_000 });
    await world.chain.send([acknowledge(world, job)], [world.hotSigner]);
    await world.chain.send([prove(world, job)]);
    await pass(world, 100n);
    await world.chain.send([settle(world, job)], [world.hotSigner]);
    await pass(world, 59n);
    await expectRefusal(world, 'JobNotClosable', close(job));
    await pass(world, 1n);
    await expectRefusal(world, 'JobNotClosable', close(job));
    await pass(world, 1n);
    await world.chain.send([close(job)]);
    await expectRefusal(world, 'WrongAccountOwner', close(job));
  });

  it.each(['pending', 'processing', 'settling', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await pass(world, DAY);
      await expectRefusal(world, 'JobNotClosable', close(job));
      if (status === 'disputed') {
        await pass(world, 1n);
        const expire = disputeExpire({ job, creditAccount: world.creditAccount });
        await world.chain.send([expire, close(job)]);
      }
    },
  );

  it('closes a job whose dispute was upheld', async () => {
    const job = await jobIn(world, 'disputed');
    const verdict = await composeVerdict(world, job, 'upheld_gateway');
    await pass(world, 120n);
    await world.chain.send([verdict, close(job)], [world.arbiter]);
  });

  it('leaves nothing to revive, and the id cannot be locked again [jobs.ids]', async () => {
    const { chain, hotSigner } = world;
    const { instruction, job } = await composeLock(world);
    await chain.send([instruction], [hotSigner]);
    await pass(world, 121n);
    const revive = SystemProgram.transfer({
      fromPubkey: chain.payer.publicKey,
      toPubkey: job,
      lamports: 10_000_000,
    });
    await chain.send([refund(world, job), close(job), revive]);
    const left = await chain.account(job);
    expect(left?.owner).toEqual(SystemProgram.programId);
    expect(left?.data).toHaveLength(0);
    await expectRefusal(world, 'JobIdTooOld', instruction, [hotSigner]);
  });
});
