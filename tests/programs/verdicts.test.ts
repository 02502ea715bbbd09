import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import { claimPay, gatewayOpen, spenderSet } from '../../programs/client/index.ts';
import { evidenceFor } from '../../testing/kit/jobInstructions.ts';
import { openWorker, UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { dispute, jobIn, readJob } from './support/jobs.ts';
import { hold, unlockStake, vouch } from './support/parties.ts';
import { composeVerdict, decide } from './support/verdicts.ts';
import {
  addresses,
  BASE_UNITS_PER_CREDIT,
  createWorld,
  MODEL,
  STAKE_DECIMALS,
  STAKE_TOKENS,
  send,
  type World,
} from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);
const treasury = () => world.read('Treasury', addresses.treasury);
const worker = () => world.read('Worker', world.worker);

/** Changes of a job of 8 credits, by each verdict on its dispute. */
const REPAID = {
  job: { status: 'refunded' as const, chargedCredits: 0n },
  creditAccount: { openDisputes: 0, owedCredits: 8n },
  said: { repaidCredits: 8n, slashedTokens: 0n },
};
const OWED = { disputedExposureBaseUnits: 0n, owedBaseUnits: 80_000n };
const verdicts = {
  rejected: {
    job: { status: 'settled' as const },
    creditAccount: { openDisputes: 0 },
    treasury: { disputedExposureBaseUnits: 0n },
    said: { repaidCredits: 0n, slashedTokens: 0n },
  },
  upheld_gateway: { ...REPAID, treasury: OWED },
  upheld_worker: {
    ...REPAID,
    treasury: { ...OWED, slashedStakeTokens: 500n },
    worker: { stakeTokens: STAKE_TOKENS - 500n },
    said: { repaidCredits: 8n, slashedTokens: 500n },
  },
};

// What it refuses: support/refusals/jobs.ts. What evidence counts: disputeEvidence.test.ts.
describe('dispute_resolve', () => {
  it.each(Object.keys(verdicts) as (keyof typeof verdicts)[])(
    'gives the verdict %s, once, which names its evidence [disputes.evidence]',
    async (verdict) => {
      const job = await jobIn(world, 'disputed');
      await pass(world, 100n);
      const { said, ...changes } = verdicts[verdict];
      const messages = evidenceFor(world, job, await readJob(world, job), verdict);
      const hash = createHash('sha256');
      for (const { message } of messages) hash.update(message);
      const isNeeded = messages.length > 0;
      const evidenceHash = isNeeded ? new Uint8Array(hash.digest()) : new Uint8Array(32);
      const instruction = await composeVerdict(world, job, verdict);
      await expectEffect({ ...world, job }, instruction, 'DisputeResolved', {
        ...changes,
        job: { ...changes.job, outcome: verdict, resolvedAfterSeconds: 100 },
        said: { ...said, evidenceHash },
      });
      await expectRefusal(world, 'WrongJobStatus', instruction);
      await expectRefusal(world, 'AlreadyDisputed', dispute(world, job));
    },
  );

  it('slashes unstaking tokens, too, and no more than there are', async () => {
    world = await createWorld({ openDisputesMax: 3 });
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')] as const;
    const third = await jobIn(world, 'disputed');
    await unlockStake(world, 800n);
    await decide(world, jobs[0], 'upheld_worker');
    expect(await worker()).toMatchObject({ stakeTokens: 0n, unstakingTokens: 500n });
    await decide(world, jobs[1], 'upheld_worker');
    expect(await worker()).toMatchObject({ unstakingTokens: 0n, unstakeReadyAt: 0n });
    const { sequence } = await worker();
    await decide(world, third, 'upheld_worker');
    expect((await treasury()).slashedStakeTokens).toBe(1_000n);
    expect((await worker()).sequence).toBe(sequence);
  });
});

describe('a job of a gateway without the authority’s voucher', () => {
  it('is repaid the treasury’s own share alone', async () => {
    await vouch(world, false);
    const job = await jobIn(world, 'disputed');
    expect((await treasury()).disputedExposureBaseUnits).toBe(10_000n);
    await decide(world, job, 'upheld_gateway');
    expect((await account()).owedCredits).toBe(1n);
    expect(await treasury()).toMatchObject({
      disputedExposureBaseUnits: 0n,
      owedBaseUnits: 10_000n,
    });
    expect(await readJob(world, job)).toMatchObject({ status: 'refunded', chargedCredits: 7n });
  });

  it('is judged by what the gateway was at the lock, not at the verdict', async () => {
    for (const [vouched, owedCredits] of [
      [false, 8n],
      [true, 9n],
    ] as const) {
      const job = await jobIn(world, 'disputed');
      await vouch(world, vouched);
      await decide(world, job, 'upheld_gateway');
      expect((await account()).owedCredits).toBe(owedCredits);
    }
  });
});

/** Nothing forbids it, so what a verdict then moves has to be known. */
describe('a wallet that is also its worker', () => {
  /** It controls its jobs by a gateway of its own, which has no voucher, or by its own signature. */
  const becomeOneParty = async (hasGateway: boolean): Promise<World> => {
    const { wallet, walletTokens, stakeMint, hotSigner } = world;
    const stakeBaseUnits = STAKE_TOKENS * 10n ** BigInt(STAKE_DECIMALS);
    const party = {
      authority: wallet,
      proofKey: wallet,
      payout: walletTokens,
      address: addresses.worker(wallet.publicKey),
      stakeTokens: world.token(stakeMint, wallet.publicKey, stakeBaseUnits),
    };
    await openWorker(world, party, { stakeTokens: STAKE_TOKENS, modelIds: [MODEL.id] });
    world.workerAccounts.push(party.address);
    const own = { ...world, worker: party.address, proofKey: wallet, payout: walletTokens };
    if (!hasGateway) return { ...own, hotSigner: wallet };
    const operator = wallet.publicKey;
    const gateway = addresses.gateway(operator);
    await send(
      world,
      gatewayOpen({ payer: operator, operator, signers: [hotSigner.publicKey] }),
      spenderSet({ wallet: operator, spender: gateway, ...UNLIMITED }),
    );
    return { ...own, gateway };
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

  it.each<[string, DisputeOutcome, boolean]>([
    ['settled job', 'none', false],
    ['verdict against its own key', 'upheld_gateway', false],
    ['verdict against its own gateway', 'upheld_gateway', true],
    ['verdict against its worker', 'upheld_worker', false],
    ['verdict against its worker behind its gateway', 'upheld_worker', true],
  ])('loses by a %s', async (_, verdict, hasGateway) => {
    hold(world, addresses.treasuryVault, 100_000n);
    const party = await becomeOneParty(hasGateway);
    const before = await holdings();
    const isDisputed = verdict !== 'none';
    const job = await jobIn(party, isDisputed ? 'disputed' : 'settled');
    if (isDisputed) await decide(party, job, verdict);
    // Of the treasury's 12,000 base units a whole credit is repaid.
    const lost = isDisputed ? 2_000n : 12_000n;
    const after = { party: before.party - lost, treasury: before.treasury + lost };
    expect(await holdings()).toEqual(after);
    if (!isDisputed) return;
    await send(world, claimPay({ claimant: world.creditAccount }));
    expect(await holdings()).toEqual(after);
    const { stakeTokens } = await world.read('Worker', party.worker);
    expect(stakeTokens).toBe(verdict === 'upheld_worker' ? STAKE_TOKENS - 500n : STAKE_TOKENS);
  });
});
