import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, dispute, jobIn, readJob, STATUS } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { addresses, createWorld, hashOf, type World } from './support/world.ts';

let world: World;
let creditAccounts: PublicKey[];
beforeEach(async () => {
  world = await createWorld();
  creditAccounts = [world.creditAccount];
});
afterEach(() => expectConserved(world, { creditAccounts }));

describe('job_dispute', () => {
  it('records the client’s hash and what the dispute may cost', async () => {
    const job = await jobIn(world, 'settled');
    const { creditAccount, wallet, worker } = world;
    await pass(world, 5n);
    const before = await readJob(world, job);
    const account = await world.read('CreditAccount', creditAccount);
    const treasury = await world.read('Treasury', addresses.treasury);
    const clientHash = hashOf('something else');
    await expectEvent(world, [dispute(world, job)], [wallet], 'JobDisputed', {
      ...{ job, jobSequence: 5, jobId: before.jobId, creditAccount },
      ...{ creditSequence: account.sequence + 1n, wallet: wallet.publicKey },
      ...{ treasurySequence: 2n, worker, clientHash, outputHash: ANSWER },
      ...{ chargedCredits: 8n, openDisputes: 1, disputedExposureBaseUnits: 80_000n },
      arbitrationEndsAt: (await world.chain.now()) + 86_400n,
    });
    expect(await readJob(world, job)).toEqual({
      ...before,
      sequence: 5,
      status: STATUS.disputed,
      clientHash,
      disputedAfterSeconds: 5,
    });
    const sequence = account.sequence + 1n;
    expect(await world.read('CreditAccount', creditAccount)).toEqual({
      ...account,
      sequence,
      openDisputes: 1,
    });
    expect(await world.read('Treasury', addresses.treasury)).toEqual({
      ...treasury,
      sequence: 2n,
      disputedExposureBaseUnits: 80_000n,
    });
  });

  it('is open to the wallet and to the controller, and to nobody else', async () => {
    const { hotSigner, gateway, stranger, chain } = world;
    const job = await jobIn(world, 'settled');
    const byStranger = dispute(world, job, { signer: stranger.publicKey });
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    const byGateway = dispute(world, job, { signer: hotSigner.publicKey, gateway });
    await chain.send([byGateway], [hotSigner]);
  });

  it('is in time up to 60 seconds after the settlement and late a second after that', async () => {
    const early = await jobIn(world, 'settled');
    const job = await jobIn(world, 'settled');
    const other = await jobIn(world, 'settled');
    await pass(world, 59n);
    await world.chain.send([dispute(world, early)], [world.wallet]);
    await pass(world, 1n);
    await world.chain.send([dispute(world, job)], [world.wallet]);
    await pass(world, 1n);
    await expectRefusal(world, 'DisputeWindowClosed', dispute(world, other), [world.wallet]);
  });

  it('counts against no other account than the job’s', async () => {
    const job = await jobIn(world, 'settled');
    const other = await addWallet(world);
    const { keypair, creditAccount } = other;
    const foreign = dispute(world, job, { signer: keypair.publicKey, creditAccount });
    await expectRefusal(world, 'WrongAddress', foreign, [keypair]);
    const named = dispute(world, job, { signer: keypair.publicKey });
    await expectRefusal(world, 'Unauthorized', named, [keypair]);
    creditAccounts.push(creditAccount);
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
