import { afterEach, beforeEach, describe, it } from '@jest/globals';
import { disputeExpire } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { dispute, jobIn } from './support/jobs.ts';
import { hashOf, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const byGateway = () => ({ signer: world.hotSigner.publicKey, gateway: world.gateway });
const clientHash = hashOf('what the wallet read');

// What they refuse, and how many may be open: support/refusals/jobs.ts.
describe('job_dispute', () => {
  it('records the client’s hash and the possible cost of the dispute', async () => {
    const job = await jobIn(world, 'settled');
    await pass(world, 5n);
    await expectEffect({ ...world, job }, dispute(world, job, { clientHash }), 'JobDisputed', {
      job: { status: 'disputed', clientHash, disputedByWallet: true, disputedAfterSeconds: 5 },
      creditAccount: { openDisputes: 1 },
      treasury: { disputedExposureBaseUnits: 80_000n },
      said: { repayableCredits: 8n, arbitrationEndsAt: (await world.chain.now()) + 86_400n },
    });
  });

  it('of a controller is amended by the wallet, which changes the hash alone', async () => {
    const job = await jobIn(world, 'settled');
    await send(world, dispute(world, job, byGateway()));
    await pass(world, 7n);
    const { wallet } = world;
    await expectEffect({ ...world, job }, dispute(world, job, { clientHash }), 'DisputeAmended', {
      job: { clientHash, disputedByWallet: true },
      said: { creditAccount: world.creditAccount, wallet: wallet.publicKey },
    });
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job, byGateway()));
  });
});

describe('dispute_expire', () => {
  it('ends an undecided dispute for any caller, and for good', async () => {
    const job = await jobIn(world, 'disputed');
    await pass(world, 86_401n);
    const expire = disputeExpire({ job, creditAccount: world.creditAccount });
    await expectEffect({ ...world, job }, expire, 'DisputeExpired', {
      job: { status: 'settled', outcome: 'expired', resolvedAfterSeconds: 86_401 },
      creditAccount: { openDisputes: 0 },
      treasury: { disputedExposureBaseUnits: 0n },
    });
    await expectRefusal(world, 'WrongJobStatus', expire);
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job));
  });
});
