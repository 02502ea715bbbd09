import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { disputeExpire } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { dispute, jobIn, readJob, STATUS } from './support/jobs.ts';
import { addresses, createWorld, type World } from './support/world.ts';

const DAY = 86_400n;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const expire = (job: Awaited<ReturnType<typeof jobIn>>) =>
  disputeExpire({ job, creditAccount: world.creditAccount });

describe('dispute_expire', () => {
  it('ends an undecided dispute after its last second, at anybody’s call', async () => {
    const job = await jobIn(world, 'disputed');
    await pass(world, DAY);
    await expectRefusal(world, 'ArbitrationOpen', expire(job));
    await pass(world, 1n);
    await world.chain.send([expire(job)]);
    expect(await readJob(world, job)).toMatchObject({
      status: STATUS.settled,
      outcome: 4,
      chargedCredits: 8n,
      resolvedAfterSeconds: Number(DAY) + 1,
    });
    const account = await world.read('CreditAccount', world.creditAccount);
    expect(account.openDisputes).toBe(0);
    const treasury = await world.read('Treasury', addresses.treasury);
    expect(treasury.disputedExposureBaseUnits).toBe(0n);
    await expectRefusal(world, 'WrongJobStatus', expire(job));
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
  });

  it.each(['pending', 'processing', 'settling', 'settled', 'failed', 'refunded'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await pass(world, DAY + 1n);
      await expectRefusal(world, 'WrongJobStatus', expire(job));
    },
  );
});
