import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, dispute, jobIn, readJob, STATUS } from './support/jobs.ts';
import { addresses, createWorld, hashOf, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

describe('job_dispute', () => {
  it('records the client’s hash and what the dispute may cost', async () => {
    const job = await jobIn(world, 'settled');
    await pass(world, 5n);
    await world.chain.send([dispute(world, job)], [world.wallet]);
    expect(await readJob(world, job)).toMatchObject({
      status: STATUS.disputed,
      outcome: 0,
      chargedCredits: 8n,
      clientHash: hashOf('something else'),
      disputedAfterSeconds: 5,
    });
    const account = await world.read('CreditAccount', world.creditAccount);
    expect(account.openDisputes).toBe(1);
    const treasury = await world.read('Treasury', addresses.treasury);
    expect(treasury.disputedExposureBaseUnits).toBe(80_000n);
  });

  it('is open to the wallet and to the controller, and to nobody else', async () => {
    const { hotSigner, gateway, stranger, chain } = world;
    const job = await jobIn(world, 'settled');
    const byStranger = dispute(world, job, { signer: stranger.publicKey });
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    const byGateway = dispute(world, job, { signer: hotSigner.publicKey, gateway });
    await chain.send([byGateway], [hotSigner]);
  });

  it('is in time 60 seconds after the settlement and late a second after that', async () => {
    const job = await jobIn(world, 'settled');
    const other = await jobIn(world, 'settled');
    await pass(world, 60n);
    await world.chain.send([dispute(world, job)], [world.wallet]);
    await pass(world, 1n);
    await expectRefusal(world, 'DisputeWindowClosed', dispute(world, other), [world.wallet]);
  });

  it('refuses the proven hash', async () => {
    const job = await jobIn(world, 'settled');
    const equal = dispute(world, job, { clientHash: ANSWER });
    await expectRefusal(world, 'HashesEqual', equal, [world.wallet]);
  });

  it('refuses a second dispute and more open disputes than a wallet may have', async () => {
    const job = await jobIn(world, 'disputed');
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
    await jobIn(world, 'disputed');
    const third = await jobIn(world, 'settled');
    await expectRefusal(world, 'DisputeLimitReached', dispute(world, third), [world.wallet]);
  });

  it.each(['pending', 'processing', 'settling', 'failed', 'refunded'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await expectRefusal(world, 'WrongJobStatus', dispute(world, job), [world.wallet]);
    },
  );
});
