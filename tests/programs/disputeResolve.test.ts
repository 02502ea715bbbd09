import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import { claimPay, stakeUnlock } from '../../programs/client/index.ts';
import { evidenceFor } from '../../testing/kit/jobInstructions.ts';
import { openWorker } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { dispute, jobIn, readJob } from './support/jobs.ts';
import { addWallet, addWorker } from './support/newcomers.ts';
import { composeVerdict, decide, passDisputeWindow } from './support/verdicts.ts';
import {
  addresses,
  BASE_UNITS_PER_CREDIT,
  createWorld,
  MODEL,
  STAKE_DECIMALS,
  STAKE_TOKENS,
  type World,
} from './support/world.ts';

const DAY = 86_400n;
const REJECTED = 'rejected';
const UPHELD_GATEWAY = 'upheld_gateway';
const UPHELD_WORKER = 'upheld_worker';
/** Behind the instruction's discriminator. */
const VERDICT_OFFSET = 8;

let world: World;
let parties: { creditAccounts: PublicKey[]; workers: PublicKey[] };
beforeEach(async () => {
  world = await createWorld();
  parties = { creditAccounts: [world.creditAccount], workers: [world.worker] };
});
afterEach(() => expectConserved(world, parties));

/** Of the messages that the verdict rests on; zeros if it needs none. */
async function evidenceHashOf(job: PublicKey, verdict: DisputeOutcome): Promise<Uint8Array> {
  const evidence = evidenceFor(world, job, await readJob(world, job), verdict);
  if (evidence.length === 0) return new Uint8Array(32);
  const hash = createHash('sha256');
  for (const { message } of evidence) hash.update(message);
  return hash.digest();
}
const account = () => world.read('CreditAccount', world.creditAccount);
const treasury = () => world.read('Treasury', addresses.treasury);
const worker = () => world.read('Worker', world.worker);

/**
 * Sends a verdict on a fresh dispute over 8 credits, 100 seconds after its settlement. Expects these
 * changes of the event and the four accounts.
 */
async function expectVerdict(
  verdict: DisputeOutcome,
  changes: { job: object; account: object; treasury: object; worker: object },
  moved: { repaidCredits: bigint; owedBaseUnits: bigint; slashedTokens: bigint },
): Promise<PublicKey> {
  const job = await jobIn(world, 'disputed');
  await pass(world, 100n);
  const before = {
    job: await readJob(world, job),
    account: await account(),
    treasury: await treasury(),
    worker: await worker(),
  };
  const slashed = moved.slashedTokens > 0n;
  const workerSequence = before.worker.sequence + (slashed ? 1n : 0n);
  const evidenceHash = await evidenceHashOf(job, verdict);
  const instruction = await composeVerdict(world, job, verdict);
  await expectEvent(world, [instruction], [world.arbiter], 'DisputeResolved', {
    ...{ job, jobSequence: 6, jobId: before.job.jobId },
    ...{ creditAccount: world.creditAccount, creditSequence: before.account.sequence + 1n },
    ...{ wallet: world.wallet.publicKey, worker: world.worker, workerSequence },
    ...{ treasurySequence: before.treasury.sequence + 1n, verdict, evidenceHash },
    chargedCredits: before.job.chargedCredits - moved.repaidCredits,
    ...{ repaidCredits: moved.repaidCredits, owedCredits: moved.repaidCredits, openDisputes: 0 },
    ...{ owedBaseUnits: moved.owedBaseUnits, disputedExposureBaseUnits: 0n },
    ...{ slashedTokens: moved.slashedTokens, slashedStakeTokens: moved.slashedTokens },
    ...{ stakeTokens: STAKE_TOKENS - moved.slashedTokens, unstakingTokens: 0n },
  });
  expect(await readJob(world, job)).toEqual({
    ...{ ...before.job, sequence: 6, outcome: verdict, resolvedAfterSeconds: 100 },
    ...changes.job,
  });
  expect(await account()).toEqual({
    ...{ ...before.account, sequence: before.account.sequence + 1n, openDisputes: 0 },
    ...changes.account,
  });
  expect(await treasury()).toEqual({
    ...{ ...before.treasury, sequence: before.treasury.sequence + 1n },
    ...{ disputedExposureBaseUnits: 0n, ...changes.treasury },
  });
  expect(await worker()).toEqual({
    ...{ ...before.worker, sequence: workerSequence },
    ...changes.worker,
  });
  return job;
}

describe('dispute_resolve', () => {
  it('leaves the job settled when the dispute is rejected', async () => {
    const job = await expectVerdict(
      REJECTED,
      { job: { status: 'settled' }, account: {}, treasury: {}, worker: {} },
      { repaidCredits: 0n, owedBaseUnits: 0n, slashedTokens: 0n },
    );
    await expectRefusal(world, 'AlreadyDisputed', dispute(world, job), [world.wallet]);
  });

  it('records the charge as owed by the treasury when upheld [disputes.evidence]', async () => {
    await expectVerdict(
      UPHELD_GATEWAY,
      {
        job: { status: 'refunded', chargedCredits: 0n },
        account: { owedCredits: 8n },
        treasury: { owedBaseUnits: 80_000n },
        worker: {},
      },
      { repaidCredits: 8n, owedBaseUnits: 80_000n, slashedTokens: 0n },
    );
  });

  it('slashes the worker when it is upheld against the worker [disputes.evidence]', async () => {
    await expectVerdict(
      UPHELD_WORKER,
      {
        job: { status: 'refunded', chargedCredits: 0n },
        account: { owedCredits: 8n },
        treasury: { owedBaseUnits: 80_000n, slashedStakeTokens: 500n },
        worker: { stakeTokens: 500n },
      },
      { repaidCredits: 8n, owedBaseUnits: 80_000n, slashedTokens: 500n },
    );
  });

  it('slashes unstaking tokens, too, and no more than there are', async () => {
    world = await createWorld({ openDisputesMax: 3 });
    const { chain, workerAuthority } = world;
    const first = await jobIn(world, 'disputed');
    const second = await jobIn(world, 'disputed');
    const third = await jobIn(world, 'disputed');
    const unlock = { authority: workerAuthority.publicKey, tokens: 800n };
    await chain.send([stakeUnlock(unlock)], [workerAuthority]);
    await decide(world, first, UPHELD_WORKER);
    expect(await worker()).toMatchObject({ stakeTokens: 0n, unstakingTokens: 500n });
    await decide(world, second, UPHELD_WORKER);
    expect(await worker()).toMatchObject({ unstakingTokens: 0n, unstakeReadyAt: 0n });
    expect((await treasury()).slashedStakeTokens).toBe(1_000n);
    const { sequence } = await worker();
    await decide(world, third, UPHELD_WORKER);
    expect((await treasury()).slashedStakeTokens).toBe(1_000n);
    expect((await worker()).sequence).toBe(sequence);
  });

  it('slashes, repays and decides while every vault is frozen', async () => {
    const { chain, creditMint, stakeMint } = world;
    const job = await jobIn(world, 'disputed');
    for (const [vault, mint] of [
      [addresses.vault, creditMint],
      [addresses.treasuryVault, creditMint],
      [addresses.stakeVault, stakeMint],
    ] as const) {
      const baseUnits = await chain.tokens(vault);
      chain.setToken(vault, { mint, owner: addresses.vaultAuthority, baseUnits, frozen: true });
    }
    await decide(world, job, UPHELD_WORKER);
    expect((await treasury()).slashedStakeTokens).toBe(500n);
    expect((await account()).owedCredits).toBe(8n);
  });

  it('succeeds in the last second of the arbitration and fails a second after', async () => {
    world = await createWorld({ openDisputesMax: 3 });
    const early = await jobIn(world, 'disputed');
    const job = await jobIn(world, 'disputed');
    const other = await jobIn(world, 'disputed');
    await pass(world, DAY - 1n);
    await world.chain.send([await composeVerdict(world, early, REJECTED)], [world.arbiter]);
    await pass(world, 1n);
    await world.chain.send([await composeVerdict(world, job, REJECTED)], [world.arbiter]);
    await pass(world, 1n);
    const late = await composeVerdict(world, other, REJECTED);
    await expectRefusal(world, 'ArbitrationClosed', late, [world.arbiter]);
  });

  it('refuses every signer but the arbiter, and unknown verdicts', async () => {
    const job = await jobIn(world, 'disputed');
    await passDisputeWindow(world);
    const { authority, stranger, wallet, hotSigner, workerAuthority } = world;
    for (const signer of [authority, stranger, wallet, hotSigner, workerAuthority]) {
      for (const verdict of [REJECTED, UPHELD_GATEWAY, UPHELD_WORKER] as const) {
        const by = { arbiter: signer.publicKey };
        const instruction = await composeVerdict(world, job, verdict, by);
        await expectRefusal(world, 'Unauthorized', instruction, [signer]);
      }
    }
    for (const byte of [0, 4, 255]) {
      const instruction = await composeVerdict(world, job, REJECTED);
      instruction.data[VERDICT_OFFSET] = byte;
      await expectRefusal(world, 'InvalidVerdict', instruction, [world.arbiter]);
    }
  });

  it.each([REJECTED, UPHELD_GATEWAY, UPHELD_WORKER] as const)(
    'gives no verdict %s while the wallet may still open its own dispute',
    async (verdict) => {
      const job = await jobIn(world, 'disputed');
      await pass(world, 60n);
      const early = await composeVerdict(world, job, verdict);
      await expectRefusal(world, 'VerdictTooEarly', early, [world.arbiter]);
      await pass(world, 1n);
      await world.chain.send([early], [world.arbiter]);
    },
  );

  it('decides a job once', async () => {
    const job = await jobIn(world, 'disputed');
    await decide(world, job, UPHELD_WORKER);
    const again = await composeVerdict(world, job, UPHELD_WORKER);
    await expectRefusal(world, 'WrongJobStatus', again, [world.arbiter]);
  });

  it('refuses any wallet and any worker but the job’s', async () => {
    const job = await jobIn(world, 'disputed');
    const { creditAccount } = await addWallet(world);
    const { address } = await addWorker(world);
    await passDisputeWindow(world);
    for (const other of [{ creditAccount }, { worker: address }]) {
      const instruction = await composeVerdict(world, job, UPHELD_WORKER, other);
      await expectRefusal(world, 'WrongAddress', instruction, [world.arbiter]);
    }
    parties.creditAccounts.push(creditAccount);
    parties.workers.push(address);
  });

  it.each(['pending', 'processing', 'settling', 'settled', 'failed', 'refunded'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      const isUnassigned = ['pending', 'failed', 'refunded'].includes(status);
      const refusal = isUnassigned ? 'WrongAddress' : 'WrongJobStatus';
      await passDisputeWindow(world);
      const instruction = await composeVerdict(world, job, REJECTED);
      await expectRefusal(world, refusal, instruction, [world.arbiter]);
    },
  );
});

/** Nothing forbids it, so what a verdict then moves has to be known. */
describe('a wallet that is also its controller and its worker', () => {
  const RESERVE_BASE_UNITS = 100_000n;

  const becomeOneParty = async (): Promise<World> => {
    const { wallet, walletTokens, stakeMint } = world;
    const stakeBaseUnits = STAKE_TOKENS * 10n ** BigInt(STAKE_DECIMALS);
    const party = {
      ...{ authority: wallet, proofKey: wallet, payout: walletTokens },
      address: addresses.worker(wallet.publicKey),
      stakeTokens: world.token(stakeMint, wallet.publicKey, stakeBaseUnits),
    };
    await openWorker(world, party, { stakeTokens: STAKE_TOKENS, modelIds: [MODEL.id] });
    parties.workers.push(party.address);
    return {
      ...{ ...world, hotSigner: wallet, workerAuthority: wallet, proofKey: wallet },
      ...{ worker: party.address, payout: party.payout, stakeTokens: party.stakeTokens },
    };
  };
  /** In base units of the stablecoin, a credit at its price. */
  const holdings = async () => {
    const { availableCredits, lockedCredits, owedCredits } = await account();
    const credits = availableCredits + lockedCredits + owedCredits;
    const { chain, walletTokens } = world;
    return {
      party: (await chain.tokens(walletTokens)) + credits * BASE_UNITS_PER_CREDIT,
      treasury: (await chain.tokens(addresses.treasuryVault)) - (await treasury()).owedBaseUnits,
    };
  };

  it('pays the treasury its share of the charge, and itself the rest', async () => {
    const party = await becomeOneParty();
    const before = await holdings();
    await jobIn(party, 'settled');
    expect(await holdings()).toEqual({
      party: before.party - 12_000n,
      treasury: before.treasury + 12_000n,
    });
  });

  it.each<[string, DisputeOutcome, bigint]>([
    ['gateway', UPHELD_GATEWAY, 0n],
    ['worker', UPHELD_WORKER, 500n],
  ])(
    'loses by a verdict against the %s, since its controller has no voucher',
    async (_, verdict, slashed) => {
      const { chain, creditMint, creditAccount } = world;
      const holding = {
        mint: creditMint,
        owner: addresses.vaultAuthority,
        baseUnits: RESERVE_BASE_UNITS,
      };
      chain.setToken(addresses.treasuryVault, holding);
      const party = await becomeOneParty();
      const before = await holdings();
      const job = await jobIn(party, 'disputed');
      await decide(party, job, verdict);
      const after = { party: before.party - 2_000n, treasury: before.treasury + 2_000n };
      expect(await holdings()).toEqual(after);
      await chain.send([claimPay({ claimant: creditAccount })]);
      expect(await holdings()).toEqual(after);
      expect(await treasury()).toMatchObject({ owedBaseUnits: 0n, slashedStakeTokens: slashed });
      const { stakeTokens } = await world.read('Worker', party.worker);
      expect(stakeTokens).toBe(STAKE_TOKENS - slashed);
    },
  );
});
