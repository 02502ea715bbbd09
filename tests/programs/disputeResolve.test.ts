import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  claimPay,
  disputeResolve,
  stakeUnlock,
  treasuryWithdraw,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { dispute, jobIn, readJob, STATUS } from './support/jobs.ts';
import { addresses, CREDITS, createWorld, hashOf, type World } from './support/world.ts';

const DAY = 86_400n;
const REJECTED = 1;
const UPHELD_GATEWAY = 2;
const UPHELD_WORKER = 3;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const resolve = (
  job: Awaited<ReturnType<typeof jobIn>>,
  verdict: number,
  arbiter = world.arbiter,
) =>
  disputeResolve({
    arbiter: arbiter.publicKey,
    job,
    creditAccount: world.creditAccount,
    worker: world.worker,
    verdict,
    evidenceHash: hashOf('two proofs'),
  });
const account = () => world.read('CreditAccount', world.creditAccount);
const treasury = () => world.read('Treasury', addresses.treasury);
const worker = () => world.read('Worker', world.worker);

describe('dispute_resolve', () => {
  it('leaves the job settled when the dispute is rejected', async () => {
    const job = await jobIn(world, 'disputed');
    await pass(world, 100n);
    await world.chain.send([resolve(job, REJECTED)], [world.arbiter]);
    expect(await readJob(world, job)).toMatchObject({
      status: STATUS.settled,
      outcome: REJECTED,
      chargedCredits: 8n,
      resolvedAfterSeconds: 100,
    });
    expect(await account()).toMatchObject({ openDisputes: 0, owedCredits: 0n });
    expect(await treasury()).toMatchObject({ disputedExposureBaseUnits: 0n, owedBaseUnits: 0n });
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
  });

  it('makes the treasury owe the charge when it is upheld against the gateway', async () => {
    const job = await jobIn(world, 'disputed');
    const { sequence } = await worker();
    await world.chain.send([resolve(job, UPHELD_GATEWAY)], [world.arbiter]);
    expect(await readJob(world, job)).toMatchObject({
      status: STATUS.refunded,
      outcome: UPHELD_GATEWAY,
      chargedCredits: 0n,
    });
    expect(await account()).toMatchObject({ openDisputes: 0, owedCredits: 8n });
    expect(await treasury()).toMatchObject({
      disputedExposureBaseUnits: 0n,
      owedBaseUnits: 80_000n,
      slashedStakeTokens: 0n,
    });
    expect(await worker()).toMatchObject({ stakeTokens: 1_000n, sequence });
  });

  it('slashes the worker when it is upheld against it', async () => {
    const job = await jobIn(world, 'disputed');
    await world.chain.send([resolve(job, UPHELD_WORKER)], [world.arbiter]);
    expect((await worker()).stakeTokens).toBe(500n);
    expect((await treasury()).slashedStakeTokens).toBe(500n);
  });

  it('reaches stake that is on its way out, and takes no more than is there', async () => {
    const { chain, workerAuthority, arbiter } = world;
    const first = await jobIn(world, 'disputed');
    const second = await jobIn(world, 'disputed');
    const unlock = { authority: workerAuthority.publicKey, tokens: 800n };
    await chain.send([stakeUnlock(unlock)], [workerAuthority]);
    await chain.send([resolve(first, UPHELD_WORKER)], [arbiter]);
    expect(await worker()).toMatchObject({ stakeTokens: 0n, unstakingTokens: 500n });
    await chain.send([resolve(second, UPHELD_WORKER)], [arbiter]);
    expect(await worker()).toMatchObject({ unstakingTokens: 0n, unstakeReadyAt: 0n });
    expect((await treasury()).slashedStakeTokens).toBe(1_000n);
  });

  it('is in time at the end of the arbitration and late a second after', async () => {
    const job = await jobIn(world, 'disputed');
    const other = await jobIn(world, 'disputed');
    await pass(world, DAY);
    await world.chain.send([resolve(job, REJECTED)], [world.arbiter]);
    await pass(world, 1n);
    await expectRefusal(world, 'ArbitrationClosed', resolve(other, REJECTED), [world.arbiter]);
  });

  it('refuses everybody but the arbiter, and verdicts that are none', async () => {
    const job = await jobIn(world, 'disputed');
    for (const signer of [world.authority, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', resolve(job, REJECTED, signer), [signer]);
    }
    for (const verdict of [0, 4, 255]) {
      await expectRefusal(world, 'InvalidVerdict', resolve(job, verdict), [world.arbiter]);
    }
  });

  it('decides a job once', async () => {
    const job = await jobIn(world, 'disputed');
    await world.chain.send([resolve(job, UPHELD_WORKER)], [world.arbiter]);
    await expectRefusal(world, 'WrongJobStatus', resolve(job, UPHELD_WORKER), [world.arbiter]);
  });
});

describe('a debt of the treasury', () => {
  const claim = () => claimPay({ claimant: world.creditAccount });
  const withdraw = (baseUnits: bigint) =>
    treasuryWithdraw({
      authority: world.authority.publicKey,
      destination: world.walletTokens,
      baseUnits,
    });

  it('is paid into credits at anybody’s call, as far as the treasury’s tokens reach', async () => {
    // each job pays the treasury 12,000 base units, and an upheld one costs it 80,000
    const job = await jobIn(world, 'disputed');
    await world.chain.send([resolve(job, UPHELD_GATEWAY)], [world.arbiter]);
    await world.chain.send([claim()]);
    expect(await account()).toMatchObject({ owedCredits: 7n, availableCredits: CREDITS - 7n });
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(2_000n);
    await expectRefusal(world, 'NothingToClaim', claim());
    const token = { mint: world.creditMint, owner: addresses.vaultAuthority };
    world.chain.setToken(addresses.treasuryVault, { ...token, baseUnits: 1_000_000n });
    await world.chain.send([claim()]);
    expect(await account()).toMatchObject({ owedCredits: 0n, availableCredits: CREDITS });
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(930_000n);
    await expectRefusal(world, 'NothingToClaim', claim());
  });

  it('and the exposure of open disputes cannot be withdrawn', async () => {
    const { chain, authority, arbiter } = world;
    const owed = await jobIn(world, 'disputed');
    await jobIn(world, 'disputed');
    await chain.send([resolve(owed, UPHELD_GATEWAY)], [arbiter]);
    const token = { mint: world.creditMint, owner: addresses.vaultAuthority };
    chain.setToken(addresses.treasuryVault, { ...token, baseUnits: 160_001n });
    await expectRefusal(world, 'TreasuryReserved', withdraw(2n), [authority]);
    await chain.send([withdraw(1n)], [authority]);
    await expectRefusal(world, 'TreasuryReserved', withdraw(1n), [authority]);
  });
});
