import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { configUpdate, type Job } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, expectUntil, pass } from './support/expectations.ts';
import { ANSWER, dispute, jobIn, readJob } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { decide } from './support/verdicts.ts';
import { addresses, createWorld, hashOf, SETTINGS, type World } from './support/world.ts';

/** Where a CreditAccount counts its open disputes. */
const OPEN_DISPUTES_AT = 134;

let world: World;
let creditAccounts: PublicKey[];
beforeEach(async () => {
  world = await createWorld();
  creditAccounts = [world.creditAccount];
});
afterEach(() => expectConserved(world, { creditAccounts }));

describe('job_dispute', () => {
  it('records the client’s hash and the possible cost of the dispute', async () => {
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
      ...{ chargedCredits: 8n, repayableCredits: 8n, disputedByWallet: true },
      ...{ openDisputes: 1, disputedExposureBaseUnits: 80_000n },
      arbitrationEndsAt: (await world.chain.now()) + 86_400n,
    });
    expect(await readJob(world, job)).toEqual({
      ...before,
      sequence: 5,
      status: 'disputed',
      clientHash,
      disputedByWallet: true,
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

  it('accepts only the wallet and the controller', async () => {
    const { hotSigner, gateway, stranger, chain } = world;
    const job = await jobIn(world, 'settled');
    const byStranger = dispute(world, job, { signer: stranger.publicKey });
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    const byGateway = dispute(world, job, { signer: hotSigner.publicKey, gateway });
    await chain.send([byGateway], [hotSigner]);
  });

  it('succeeds up to 60 seconds after the settlement and fails a second after [disputes.window]', async () => {
    const jobs = [
      await jobIn(world, 'settled'),
      await jobIn(world, 'settled'),
      await jobIn(world, 'settled'),
    ];
    const sent = jobs.map((job) => dispute(world, job));
    await expectUntil(world, 60n, 'DisputeWindowClosed', sent, [world.wallet]);
  });

  it('refuses any credit account but the job’s', async () => {
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

  it('refuses a second dispute of a job', async () => {
    const job = await jobIn(world, 'disputed');
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
  });

  it.each(['pending', 'processing', 'settling', 'failed', 'refunded'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await expectRefusal(world, 'WrongJobStatus', dispute(world, job), [world.wallet]);
    },
  );
});

describe('a dispute that the controller opened', () => {
  const FALSE_HASH = hashOf('a hash without a proof');
  const OWN_HASH = hashOf('what the wallet read');
  const openByController = async (): Promise<PublicKey> => {
    const { chain, hotSigner, gateway } = world;
    const job = await jobIn(world, 'settled');
    const choice = { signer: hotSigner.publicKey, gateway, clientHash: FALSE_HASH };
    await chain.send([dispute(world, job, choice)], [hotSigner]);
    return job;
  };
  const amend = (job: PublicKey, clientHash = OWN_HASH) => dispute(world, job, { clientHash });
  const readAll = async (job: PublicKey) => ({
    job: await readJob(world, job),
    account: await world.read('CreditAccount', world.creditAccount),
    treasury: await world.read('Treasury', addresses.treasury),
  });

  it('is amended by the wallet, whose hash takes the place of the other', async () => {
    const { wallet, creditAccount, worker } = world;
    const job = await openByController();
    const before = await readAll(job);
    expect(before.job).toMatchObject({ clientHash: FALSE_HASH, disputedByWallet: false });
    await pass(world, 7n);
    await expectEvent(world, [amend(job)], [wallet], 'DisputeAmended', {
      ...{ job, jobSequence: 6, jobId: before.job.jobId, creditAccount },
      ...{ wallet: wallet.publicKey, worker, clientHash: OWN_HASH, outputHash: ANSWER },
    });
    const amended: Partial<Job> = { sequence: 6, clientHash: OWN_HASH, disputedByWallet: true };
    // Neither the time of the dispute nor any counter changes.
    expect(await readAll(job)).toEqual({ ...before, job: { ...before.job, ...amended } });
  });

  it('is amended once, and only by the wallet', async () => {
    const { chain, wallet, hotSigner, gateway } = world;
    const job = await openByController();
    const byGateway = { signer: hotSigner.publicKey, gateway, clientHash: OWN_HASH };
    const again = dispute(world, job, byGateway);
    await expectRefusal(world, 'AlreadyDisputed', again, [hotSigner]);
    await chain.send([amend(job)], [wallet]);
    await expectRefusal(world, 'AlreadyDisputed', amend(job, FALSE_HASH), [wallet]);
    await expectRefusal(world, 'AlreadyDisputed', again, [hotSigner]);
  });

  it('is not amended to the proven hash', async () => {
    const job = await openByController();
    await expectRefusal(world, 'HashesEqual', amend(job, ANSWER), [world.wallet]);
  });

  it('is amended after the dispute window, until the arbitration ends', async () => {
    const { chain, wallet } = world;
    const early = await openByController();
    const late = await openByController();
    await pass(world, 86_400n);
    await chain.send([amend(early)], [wallet]);
    await pass(world, 1n);
    await expectRefusal(world, 'ArbitrationClosed', amend(late), [wallet]);
  });

  it('is not amended once it is decided', async () => {
    const job = await openByController();
    await decide(world, job, 'rejected');
    await expectRefusal(world, 'AlreadyDisputed', amend(job), [world.wallet]);
  });
});

describe('the number of open disputes', () => {
  /** Six fresh settled jobs. */
  const settledJobs = async () => {
    const settled = () => jobIn(world, 'settled');
    return [
      ...([await settled(), await settled(), await settled()] as const),
      ...([await settled(), await settled(), await settled()] as const),
    ] as const;
  };
  const open = (...jobs: PublicKey[]) =>
    world.chain.send(
      jobs.map((job) => dispute(world, job)),
      [world.wallet],
    );
  const refuse = (job: PublicKey) =>
    expectRefusal(world, 'DisputeLimitReached', dispute(world, job), [world.wallet]);
  const ofGateway = (job: PublicKey) => {
    const { hotSigner, gateway } = world;
    return dispute(world, job, { signer: hotSigner.publicKey, gateway });
  };
  const openByGateway = (...jobs: PublicKey[]) =>
    world.chain.send(jobs.map(ofGateway), [world.hotSigner]);
  const refuseGateway = (job: PublicKey) =>
    expectRefusal(world, 'DisputeLimitReached', ofGateway(job), [world.hotSigner]);
  /** The jobs that are still settled stay open to disputes. */
  const reject = async (...jobs: PublicKey[]) => {
    const now = await world.chain.now();
    for (const job of jobs) await decide(world, job, 'rejected');
    await world.chain.setTime(now);
  };
  const openDisputes = async () =>
    (await world.read('CreditAccount', world.creditAccount)).openDisputes;

  it('reserves the wallet as many again when its controller opened its maximum', async () => {
    const [first, second, third, fourth, fifth] = await settledJobs();
    await openByGateway(first, second);
    await refuseGateway(third);
    await open(third, fourth);
    expect(await openDisputes()).toBe(4);
    await refuse(fifth);
    await refuseGateway(fifth);
  });

  it('falls with each verdict, and both parties may open more up to a limit', async () => {
    const [first, second, third, fourth, fifth, sixth] = await settledJobs();
    await openByGateway(first, second);
    await open(third, fourth);
    await reject(first);
    await refuseGateway(fifth);
    await open(fifth);
    await refuse(sixth);
    await reject(second, third, fourth);
    expect(await openDisputes()).toBe(1);
    await openByGateway(sixth);
  });

  it('lets a wallet that opens its maximum block its controller', async () => {
    const [first, second, third, fourth, fifth] = await settledJobs();
    await open(first, second);
    await refuseGateway(third);
    await open(third, fourth);
    await refuse(fifth);
  });

  it('counts a wallet that is its own controller as the wallet', async () => {
    world = { ...world, hotSigner: world.wallet };
    const [first, second, third, fourth, fifth] = await settledJobs();
    await open(first, second, third, fourth);
    await refuse(fifth);
  });

  it.each([
    { max: 128, admitted: 255 },
    { max: 255, admitted: 255 },
    { max: 127, admitted: 254 },
  ])('is $admitted at most when a controller may open $max', async ({ max, admitted }) => {
    const { chain, authority, arbiter, creditAccount } = world;
    const terms = { ...SETTINGS, openDisputesMax: max, arbiter: arbiter.publicKey };
    await chain.send([configUpdate({ authority: authority.publicKey, ...terms })], [authority]);
    const [last, beyond] = await settledJobs();
    const account = await chain.account(creditAccount);
    if (account === null) throw new Error('there is no credit account');
    account.data[OPEN_DISPUTES_AT] = admitted - 1;
    chain.setAccount(creditAccount, account);
    await open(last);
    expect(await openDisputes()).toBe(admitted);
    await refuse(beyond);
  });
});
