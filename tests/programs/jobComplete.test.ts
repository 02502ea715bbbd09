import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  gatewayUpdate,
  stakeUnlock,
  workerDeregister,
  workerHost,
  workerSuspend,
  workerUnhost,
} from '../../programs/client/index.ts';
import type { TestWorker } from '../../testing/kit/cast.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, acknowledge, complete, jobIn, lockJob, REQUEST, readJob } from './support/jobs.ts';
import { addWallet, addWorker } from './support/newcomers.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, createWorld, MODEL, type World } from './support/world.ts';

let world: World;
let parties: { creditAccounts: PublicKey[]; workers: PublicKey[] };
beforeEach(async () => {
  world = await createWorld();
  parties = { creditAccounts: [world.creditAccount], workers: [world.worker] };
});
afterEach(() => expectConserved(world, parties));

const account = () => world.read('CreditAccount', world.creditAccount);
const worker = () => world.read('Worker', world.worker);
const treasury = () => world.read('Treasury', addresses.treasury);

type Choice = NonNullable<Parameters<typeof complete>[2]>;
const send = (job: PublicKey, choice?: Choice) =>
  world.chain.send([complete(world, job, choice)], [world.hotSigner]);
const refuses = (name: Parameters<typeof expectRefusal>[1], job: PublicKey, choice?: Choice) =>
  expectRefusal(world, name, complete(world, job, choice), [world.hotSigner]);
const addTwin = async (): Promise<TestWorker> => {
  const twin = await addWorker(world);
  parties.workers.push(twin.address);
  return twin;
};
/** As the worker that an instruction names, with its payee and its key. */
const by = ({ address, payout, proofKey }: TestWorker) => ({
  ...{ worker: address, workerPayout: payout, key: proofKey },
});
const setStopped = (stopped: boolean) => {
  const { chain, operator, hotSigner } = world;
  const signers = [hotSigner.publicKey];
  return chain.send(
    [gatewayUpdate({ operator: operator.publicKey, signers, stopped })],
    [operator],
  );
};

// What is no proof of a job: proofs.test.ts. That it equals three instructions: jobCompleteEquality.test.ts.
describe('job_complete', () => {
  it('gives, proves, charges and pays a pending job at once [charging.never-above-lock]', async () => {
    const job = await lockJob(world, { tokenLimit: 3_000 });
    await pass(world, 9n);
    const before = { job: await readJob(world, job), account: await account() };
    const owed = { worker: await worker(), treasury: await treasury() };
    const tokens = { promptTokens: 20, completionTokens: 2_100 };
    const instruction = complete(world, job, { ...tokens, countedTokens: 2_200 });
    const attempt = { worker: world.worker, attempt: 1, outputHash: ANSWER, ...tokens };
    // locked 12, charged ceil(2.1 × 4) = 9 credits = 90,000 base units, 15 % to the treasury
    await expectEvent(world, [instruction], [world.hotSigner], 'JobCompleted', {
      ...{ job, jobSequence: 2, jobId: before.job.jobId, creditAccount: world.creditAccount },
      ...{ creditSequence: before.account.sequence + 1n, wallet: world.wallet.publicKey },
      ...{ workerSequence: owed.worker.sequence + 1n, settledBy: world.hotSigner.publicKey },
      ...{ ...attempt, proofKey: world.proofKey.publicKey, requestCommitment: REQUEST },
      ...{ countedTokens: 2_200, chargedCredits: 9n, returnedCredits: 3n },
      ...{ workerBaseUnits: 76_500n, workerPaid: true, workerClaimableBaseUnits: 0n },
      ...{ treasuryBaseUnits: 13_500n, treasuryPaid: true, treasuryUnpaidBaseUnits: 0n },
      ...{ jobsSettled: 1n, treasurySequence: owed.treasury.sequence },
      ...{ availableCredits: CREDITS - 9n, accountLockedCredits: 0n, spentTodayCredits: 9n },
    });
    expect(await readJob(world, job)).toEqual({
      ...{ ...before.job, sequence: 2, status: 'settled', ...attempt },
      ...{ settledBy: world.hotSigner.publicKey, chargedCredits: 9n, countedTokens: 2_200 },
      ...{ acknowledgedAfterSeconds: 9, provenAfterSeconds: 9, endedAfterSeconds: 9 },
    });
    expect(await account()).toEqual({
      ...{ ...before.account, sequence: before.account.sequence + 1n },
      ...{ availableCredits: CREDITS - 9n, lockedCredits: 0n, spentTodayCredits: 9n },
    });
    expect(await worker()).toEqual({
      ...{ ...owed.worker, sequence: owed.worker.sequence + 1n, jobsSettled: 1n },
    });
    expect(await treasury()).toEqual(owed.treasury);
    const { chain, payout } = world;
    expect([await chain.tokens(payout), await chain.tokens(addresses.treasuryVault)]).toEqual([
      76_500n,
      13_500n,
    ]);
  });

  it('ends a processing job by the recorded attempt, whose time stays', async () => {
    const job = await lockJob(world);
    await pass(world, 3n);
    await world.chain.send([acknowledge(world, job, { attempt: 7 })], [world.hotSigner]);
    await pass(world, 4n);
    await send(job, { attempt: 7 });
    expect(await readJob(world, job)).toMatchObject({
      ...{ status: 'settled', sequence: 3, attempt: 7, worker: world.worker },
      ...{ acknowledgedAfterSeconds: 3, provenAfterSeconds: 7, endedAfterSeconds: 7 },
    });
  });

  it('ends it by a later attempt, of the same worker or of another', async () => {
    const twin = await addTwin();
    for (const [choice, payout] of [
      [{ attempt: 2 }, world.payout],
      [{ attempt: 255, ...by(twin) }, twin.payout],
    ] as const) {
      const job = await jobIn(world, 'processing');
      await pass(world, 5n);
      await send(job, choice);
      expect(await readJob(world, job)).toMatchObject({
        ...{ status: 'settled', attempt: choice.attempt, acknowledgedAfterSeconds: 5 },
        worker: 'worker' in choice ? choice.worker : world.worker,
      });
      expect(await world.chain.tokens(payout)).toBe(68_000n);
    }
  });

  it('charges the lower of proven and counted tokens, and at most the lock', async () => {
    const charged = async (tokenLimit: number, completionTokens: number, countedTokens: number) => {
      const job = await lockJob(world, { tokenLimit });
      await send(job, { completionTokens, countedTokens });
      return (await readJob(world, job)).chargedCredits;
    };
    const most = 2 ** 32 - 1;
    expect(await charged(10_000, 9_000, 4_001)).toBe(17n);
    expect(await charged(10_000, 4_001, 9_000)).toBe(17n);
    expect(await charged(3_000, 90_000, 90_000)).toBe(12n);
    expect(await charged(2_000, 0, 1)).toBe(8n);
    expect(await charged(32_768, most, most)).toBe(132n);
  });

  it('succeeds until its deadline and fails a second after [failures.ledger-time]', async () => {
    const statuses = ['pending', 'processing'] as const;
    const jobs: PublicKey[] = [];
    for (let count = 0; count < 3; count += 1) {
      for (const status of statuses) jobs.push(await jobIn(world, status));
    }
    const next = () => jobs.splice(0, statuses.length);
    await pass(world, 119n);
    for (const job of next()) await send(job);
    await pass(world, 1n);
    for (const job of next()) await send(job);
    await pass(world, 1n);
    for (const job of next()) await refuses('DeadlinePassed', job);
  });

  it('names the first of several faults, as the three instructions would', async () => {
    const { chain, hotSigner, arbiter, workerAuthority, stranger } = world;
    const { creditAccount } = await addWallet(world);
    parties.creditAccounts.push(creditAccount);
    const authority = workerAuthority.publicKey;
    const [overdue, settling] = [await lockJob(world), await jobIn(world, 'settling')];
    const ended = await jobIn(world, 'settled');
    await pass(world, 121n);
    const suspend = (suspended: boolean) =>
      workerSuspend({ arbiter: arbiter.publicKey, worker: world.worker, suspended });
    const hosted = { authority, modelId: MODEL.id };
    await chain.send([suspend(true), workerUnhost(hosted)], [arbiter, workerAuthority]);
    const job = await lockJob(world);
    await setStopped(true);
    const faults = { key: stranger, creditAccount, countedTokens: 0 };

    const byStranger = complete(world, settling, { ...faults, signer: stranger.publicKey });
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    await refuses('ProofAlreadyGiven', settling, { ...faults, attempt: 0 });
    await refuses('GatewayStopped', ended, { ...faults, attempt: 0 });
    await setStopped(false);
    await refuses('WrongJobStatus', ended, { ...faults, attempt: 0 });
    await refuses('DeadlinePassed', overdue, { ...faults, attempt: 0 });
    await refuses('AttemptNotNewer', job, { ...faults, attempt: 0 });
    await refuses('WorkerNotEligible', job, faults);
    await chain.send([suspend(false)], [arbiter]);
    await refuses('WorkerDoesNotHostModel', job, faults);
    await chain.send([workerHost(hosted)], [workerAuthority]);
    await refuses('SignatureInvalid', job, faults);
    await refuses('WrongAddress', job, { creditAccount, countedTokens: 0 });
    await refuses('NothingCounted', job, { countedTokens: 0 });
    await chain.send([complete(world, job, { countedTokens: 1 })], [hotSigner]);
  });

  it.each(['settled', 'failed', 'refunded', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      for (const attempt of [1, 2]) await refuses('WrongJobStatus', job, { attempt });
    },
  );

  it('refuses a job whose proof is recorded, also for the same proof', async () => {
    const job = await jobIn(world, 'settling');
    for (const attempt of [1, 2]) await refuses('ProofAlreadyGiven', job, { attempt });
  });

  it('refuses to complete a job again', async () => {
    const job = await lockJob(world);
    await send(job);
    for (const attempt of [1, 2]) await refuses('WrongJobStatus', job, { attempt });
    expect(await world.chain.tokens(world.payout)).toBe(68_000n);
  });

  it('refuses an attempt of another worker than recorded, and an earlier one', async () => {
    const twin = await addTwin();
    const job = await lockJob(world);
    await refuses('AttemptNotNewer', job, { attempt: 0 });
    await world.chain.send([acknowledge(world, job, { attempt: 2 })], [world.hotSigner]);
    for (const attempt of [0, 1]) await refuses('AttemptNotNewer', job, { attempt });
    for (const attempt of [1, 2]) await refuses('AttemptNotNewer', job, { attempt, ...by(twin) });
    await send(job, { attempt: 2 });
  });

  it('refuses a stopped gateway’s new attempt, not the end of a running one', async () => {
    const [waiting, running] = [await lockJob(world), await jobIn(world, 'processing')];
    await setStopped(true);
    await refuses('GatewayStopped', waiting);
    await refuses('GatewayStopped', running, { attempt: 2 });
    await send(running);
    expect((await readJob(world, running)).status).toBe('settled');
  });

  it('asks whether a worker is eligible for a new attempt alone', async () => {
    const { chain, workerAuthority } = world;
    const authority = workerAuthority.publicKey;
    const steps = [
      ['WorkerDoesNotHostModel', workerUnhost({ authority, modelId: MODEL.id })],
      ['WorkerNotEligible', stakeUnlock({ authority, tokens: 1n })],
      ['WorkerNotEligible', workerDeregister({ authority })],
    ] as const;
    const waiting = await lockJob(world);
    const running: PublicKey[] = [];
    for (const _ of steps) running.push(await jobIn(world, 'processing'));
    for (const [index, [refusal, step]] of steps.entries()) {
      await chain.send([step], [workerAuthority]);
      await refuses(refusal, waiting);
      await send(running[index] as PublicKey);
    }
    expect((await worker()).jobsSettled).toBe(3n);
  });

  it('refuses every signer but the controller', async () => {
    const job = await lockJob(world);
    for (const signer of [world.wallet, world.stranger, world.workerAuthority, world.proofKey]) {
      const instruction = complete(world, job, { signer: signer.publicKey });
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
  });

  it('cannot charge another wallet, or pay anybody but the worker', async () => {
    const { creditMint, stranger, payout, hotSigner } = world;
    const job = await lockJob(world);
    const { creditAccount } = await addWallet(world);
    parties.creditAccounts.push(creditAccount);
    const twin = await addTwin();
    await refuses('WrongAddress', job, { creditAccount });
    const elsewhere = world.token(creditMint, stranger.publicKey);
    for (const workerPayout of [elsewhere, twin.payout, addresses.vault, addresses.treasuryVault]) {
      await refuses('WrongAddress', job, { workerPayout });
    }
    for (const vault of ['vault', 'treasury_vault']) {
      const diverted = withAccount(complete(world, job), vault, payout);
      await expectRefusal(world, 'WrongAddress', diverted, [hotSigner]);
    }
    await refuses('SignatureInvalid', job, { worker: twin.address, workerPayout: twin.payout });
    await refuses('SignatureInvalid', job, { key: Keypair.generate() });
    await send(job);
  });
});

describe('a payment that job_complete cannot make', () => {
  const freeze = async (address: PublicKey, owner: PublicKey) => {
    const baseUnits = await world.chain.tokens(address);
    world.chain.setToken(address, { mint: world.creditMint, owner, baseUnits, frozen: true });
  };
  const close = async (address: PublicKey) =>
    world.chain.setAccount(address, {
      ...{ lamports: 0, data: new Uint8Array(), executable: false },
      owner: world.stranger.publicKey,
    });
  const WORKERS = 68_000n;
  const TREASURYS = 12_000n;

  it.each<[string, () => Promise<void>, { workerPaid: boolean; treasuryPaid: boolean }]>([
    [
      'the worker’s account is frozen',
      () => freeze(world.payout, world.workerAuthority.publicKey),
      { workerPaid: false, treasuryPaid: true },
    ],
    [
      'the worker’s account is closed',
      () => close(world.payout),
      { workerPaid: false, treasuryPaid: true },
    ],
    [
      'the treasury’s vault is frozen',
      () => freeze(addresses.treasuryVault, addresses.vaultAuthority),
      { workerPaid: true, treasuryPaid: false },
    ],
    [
      'the vault is frozen',
      () => freeze(addresses.vault, addresses.vaultAuthority),
      { workerPaid: false, treasuryPaid: false },
    ],
  ])('stays in the vault while %s', async (_, prevent, paid) => {
    await prevent();
    const before = await treasury();
    const job = await lockJob(world);
    await send(job);
    const workerClaimableBaseUnits = paid.workerPaid ? 0n : WORKERS;
    const treasuryUnpaidBaseUnits = paid.treasuryPaid ? 0n : TREASURYS;
    expect(world.chain.lastEvents()).toMatchObject([
      {
        name: 'JobCompleted',
        data: {
          ...{ ...paid, workerBaseUnits: WORKERS, treasuryBaseUnits: TREASURYS },
          ...{ workerClaimableBaseUnits, treasuryUnpaidBaseUnits },
          treasurySequence: before.sequence + (paid.treasuryPaid ? 0n : 1n),
        },
      },
    ]);
    expect((await readJob(world, job)).status).toBe('settled');
    expect((await worker()).claimableBaseUnits).toBe(workerClaimableBaseUnits);
    expect((await treasury()).unpaidBaseUnits).toBe(treasuryUnpaidBaseUnits);
    const atTreasury = await world.chain.tokens(addresses.treasuryVault);
    expect(atTreasury).toBe(paid.treasuryPaid ? TREASURYS : 0n);
    if (paid.workerPaid) expect(await world.chain.tokens(world.payout)).toBe(WORKERS);
  });
});
