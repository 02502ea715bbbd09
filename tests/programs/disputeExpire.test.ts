import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { disputeExpire } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { dispute, jobIn, readJob } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { addresses, createWorld, type World } from './support/world.ts';

const DAY = 86_400n;

let world: World;
const creditAccounts: PublicKey[] = [];
beforeAll(async () => {
  world = await createWorld();
  creditAccounts.push(world.creditAccount);
});
afterEach(() => expectConserved(world, { creditAccounts }));

const expire = (job: PublicKey) => disputeExpire({ job, creditAccount: world.creditAccount });

describe('dispute_expire', () => {
  it('ends an undecided dispute after its last second, for any caller', async () => {
    const job = await jobIn(world, 'disputed');
    await pass(world, DAY - 1n);
    await expectRefusal(world, 'ArbitrationOpen', expire(job));
    await pass(world, 1n);
    await expectRefusal(world, 'ArbitrationOpen', expire(job));
    await pass(world, 1n);
    const { creditAccount } = world;
    const before = await readJob(world, job);
    const account = await world.read('CreditAccount', creditAccount);
    const treasury = await world.read('Treasury', addresses.treasury);
    const creditSequence = account.sequence + 1n;
    await expectEvent(world, [expire(job)], [], 'DisputeExpired', {
      ...{ job, jobSequence: 6, jobId: before.jobId, creditAccount, creditSequence },
      ...{ wallet: world.wallet.publicKey, treasurySequence: treasury.sequence + 1n },
      ...{ openDisputes: 0, disputedExposureBaseUnits: 0n },
    });
    expect(await readJob(world, job)).toEqual({
      ...before,
      sequence: 6,
      status: 'settled',
      outcome: 'expired',
      resolvedAfterSeconds: Number(DAY) + 1,
    });
    expect(await world.read('CreditAccount', creditAccount)).toEqual({
      ...account,
      sequence: creditSequence,
      openDisputes: 0,
    });
    expect(await world.read('Treasury', addresses.treasury)).toEqual({
      ...treasury,
      sequence: treasury.sequence + 1n,
      disputedExposureBaseUnits: 0n,
    });
    await expectRefusal(world, 'WrongJobStatus', expire(job));
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
  });

  it('refuses any credit account but the job’s', async () => {
    const job = await jobIn(world, 'disputed');
    await pass(world, DAY + 1n);
    const other = await addWallet(world);
    const foreign = disputeExpire({ job, creditAccount: other.creditAccount });
    await expectRefusal(world, 'WrongAddress', foreign);
    await world.chain.send([expire(job)]);
    creditAccounts.push(other.creditAccount);
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
