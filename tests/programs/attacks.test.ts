import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey } from '@solana/web3.js';
import {
  claimPay,
  creditOpen,
  disputeExpire,
  jobClose,
  jobRefund,
} from '../../programs/client/index.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { expectConserved } from './support/conservation.ts';
import { openCase } from './support/evidence.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import {
  acknowledge,
  complete,
  composeLock,
  dispute,
  fail,
  jobIn,
  lockJob,
  prove,
  readJob,
  settle,
} from './support/jobs.ts';
import { freeze, setLimits, updateGateway, vouch } from './support/parties.ts';
import { composeVerdict, decide, passDisputeWindow } from './support/verdicts.ts';
import {
  addresses,
  BASE_UNITS_PER_CREDIT,
  CREDITS,
  createWorld,
  hashOf,
  STAKE_TOKENS,
  send,
  type World,
} from './support/world.ts';

/** What one job of the test model is charged. */
const CHARGE = 8n;
/** What the treasury receives of it, in whole credits. */
const TREASURY_CREDITS = 1n;
const GARBAGE = hashOf('garbage');

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const balance = () => world.read('CreditAccount', world.creditAccount);
describe('a stolen hot signer with a worker of its own', () => {
  /** Charges one job to the wallet, for a text that no client requested. */
  const steal = async () => {
    const { instruction, job } = await composeLock(world);
    await send(world, instruction, complete(world, job));
  };

  it('takes no more in a day than the wallet’s limit', async () => {
    await setLimits(world, { limitPerDayCredits: 3n * CHARGE });
    for (let job = 0; job < 3; job += 1) await steal();
    await expect(steal()).rejects.toThrow(/^DayLimitExceeded$/);
    expect(await balance()).toMatchObject({ availableCredits: CREDITS - 3n * CHARGE });
  });

  it('takes only what its worker was given before, once the gateway is stopped', async () => {
    const pending = await lockJob(world);
    const given = await jobIn(world, 'processing');
    await updateGateway(world, { stopped: true });
    await expect(steal()).rejects.toThrow(/^GatewayStopped$/);
    for (const attempt of [acknowledge, complete]) {
      await expectRefusal(world, 'GatewayStopped', attempt(world, pending));
      await expectRefusal(world, 'GatewayStopped', attempt(world, given, { attempt: 2 }));
    }
    await send(world, complete(world, given));
    expect(await balance()).toMatchObject({ lockedCredits: CHARGE });
  });
});

describe('a worker that proves garbage', () => {
  it('cannot bring back a replaced proof, and is not convicted by it', async () => {
    const job = await jobIn(world, 'settling', { outputHash: GARBAGE });
    await send(world, acknowledge(world, job, { attempt: 2 }));
    await expectRefusal(world, 'SignatureInvalid', prove(world, job, { outputHash: GARBAGE }));
    await send(world, prove(world, job, { attempt: 2 }), settle(world, job), dispute(world, job));
    await passDisputeWindow(world);
    const { recorded, proofWith, verdictOn } = await openCase(world, job);
    const garbage = proofWith({ attempt: 1, outputHash: GARBAGE });
    const verdict = verdictOn('upheld_worker', [recorded, garbage]);
    await expectRefusal(world, 'SignatureInvalid', verdict);
  });

  it('returns the lock at the last attempt, since the controller can fail it', async () => {
    const job = await lockJob(world);
    await send(world, acknowledge(world, job, { attempt: 255 }));
    await send(world, prove(world, job, { attempt: 255, outputHash: GARBAGE }));
    for (const attempt of [1, 254]) {
      await expectRefusal(world, 'AttemptNotNewer', acknowledge(world, job, { attempt }));
    }
    await send(world, fail(world, job, { deliveredHash: hashOf('the text') }));
    expect(await balance()).toMatchObject({ availableCredits: CREDITS, lockedCredits: 0n });
  });
});

describe('evidence', () => {
  it('counts only while its signer, if that did not settle, is listed', async () => {
    const { hotSigner, stranger: guest, gateway } = world;
    const { job, receiptWith, verdictOn } = await openCase(world);
    const verdict = verdictOn('upheld_gateway', [receiptWith({}, guest)], { gateway });
    const setSigners = (...keys: Keypair[]) =>
      updateGateway(world, { signers: keys.map(({ publicKey }) => publicKey) });
    await expectRefusal(world, 'ProofWrongKey', verdict);
    await setSigners(hotSigner, guest);
    await setSigners(hotSigner);
    await expectRefusal(world, 'ProofWrongKey', verdict);
    await setSigners(guest);
    await send(world, verdict);
    expect((await readJob(world, job)).outcome).toBe('upheld_gateway');
  });

  it('decides no other job, by any program that calls for both', async () => {
    world.chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')] as const;
    await passDisputeWindow(world);
    const [one, other] = [await openCase(world, jobs[0]), await openCase(world, jobs[1])];
    const receipt = one.receiptWith();
    const verdict = one.verdictOn('upheld_gateway', [receipt]);
    const both = callThrough(verdict, other.verdictOn('upheld_gateway', [receipt]));
    await expectRefusal(world, 'SignatureInvalid', both);
    await send(world, callThrough(verdict));
    const statuses = await Promise.all(jobs.map(async (job) => (await readJob(world, job)).status));
    expect(statuses).toEqual(['refunded', 'disputed']);
  });
});

describe('a dispute that the wallet amends in its last second', () => {
  it('can be judged in that second, and expires in the next', async () => {
    const { hotSigner, gateway, creditAccount } = world;
    const byController = { signer: hotSigner.publicKey, gateway };
    const jobs = [await jobIn(world, 'settled'), await jobIn(world, 'settled')] as const;
    await send(world, ...jobs.map((job) => dispute(world, job, byController)));
    await pass(world, 86_400n);
    await send(world, ...jobs.map((job) => dispute(world, job, { clientHash: hashOf('mine') })));
    const [judged, unjudged] = jobs;
    await send(world, await composeVerdict(world, judged, 'upheld_worker'));
    const expire = disputeExpire({ job: unjudged, creditAccount });
    await expectRefusal(world, 'ArbitrationOpen', expire);
    await pass(world, 1n);
    await send(world, expire);
    expect((await readJob(world, unjudged)).outcome).toBe('expired');
  });
});

describe('a signer of a vouched gateway that contradicts its own jobs', () => {
  const ROUNDS = 10n;
  /** What the treasury has and does not owe, in base units. */
  const unowed = async () =>
    (await world.chain.tokens(addresses.treasuryVault)) -
    (await world.read('Treasury', addresses.treasury)).owedBaseUnits;
  const repay = async () => {
    const job = await jobIn(world, 'disputed');
    await decide(world, job, 'upheld_gateway');
  };

  it('costs the treasury the pay of each job until its vouching ends', async () => {
    const before = await unowed();
    for (let round = 0n; round < ROUNDS; round += 1n) await repay();
    // Of each charge of 80,000 base units the treasury had received 12,000.
    expect((await unowed()) - before).toBe(-ROUNDS * 68_000n);
    expect(await balance()).toMatchObject({ owedCredits: ROUNDS * CHARGE });
    await vouch(world, false);
    await repay();
    expect((await unowed()) - before).toBe(-ROUNDS * 68_000n + 2_000n);
  });

  it('is not stopped by the treasury’s floor, which a withdrawal alone keeps', async () => {
    world = await createWorld({ treasuryFloorCredits: 1_000_000n });
    await repay();
    const { chain, creditAccount } = world;
    const held = await chain.tokens(addresses.treasuryVault);
    await send(world, claimPay({ claimant: creditAccount }));
    // There was one job's share, which is less than is owed.
    expect(await chain.tokens(addresses.treasuryVault)).toBeLessThan(held);
  });
});

describe('a worker that convicts itself behind a vouched gateway', () => {
  const owedCredits = async () => (await balance()).owedCredits;

  it('is repaid in full only while its stake bears the whole slash', async () => {
    const slashed: bigint[] = [];
    const repaid: bigint[] = [];
    const jobs: PublicKey[] = [];
    for (let count = 0; count < 3; count += 1) jobs.push(await jobIn(world, 'disputed'));
    await passDisputeWindow(world);
    for (const job of jobs) {
      const owedBefore = await owedCredits();
      const before = (await world.read('Worker', world.worker)).stakeTokens;
      await send(world, await composeVerdict(world, job, 'upheld_worker'));
      slashed.push(before - (await world.read('Worker', world.worker)).stakeTokens);
      repaid.push((await owedCredits()) - owedBefore);
    }
    expect(slashed).toEqual([500n, 500n, 0n]);
    expect(slashed.reduce((sum, tokens) => sum + tokens)).toBe(STAKE_TOKENS);
    // Of the third charge the treasury had received 1.2 credits.
    expect(repaid).toEqual([CHARGE, CHARGE, TREASURY_CREDITS]);
    expect(await world.read('Treasury', addresses.treasury)).toMatchObject({
      owedBaseUnits: (2n * CHARGE + TREASURY_CREDITS) * BASE_UNITS_PER_CREDIT,
      disputedExposureBaseUnits: 0n,
    });
  });

  it('gets back the treasury’s share alone if a token of the slash is missing', async () => {
    world = await createWorld({ slashTokens: 501 });
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')];
    for (const job of jobs) await decide(world, job, 'upheld_worker');
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: 0n });
    expect(await owedCredits()).toBe(CHARGE + TREASURY_CREDITS);
    const charged = await Promise.all(
      jobs.map(async (job) => (await readJob(world, job)).chargedCredits),
    );
    expect(charged).toEqual([0n, CHARGE - TREASURY_CREDITS]);
  });
});

describe('a stolen crank’s key', () => {
  it('gets nothing by any of its duties: no credit, no token, no rent', async () => {
    const { chain, stranger: thief, creditMint, worker, payout } = world;
    const wallet = thief.publicKey;
    await send(world, creditOpen({ payer: wallet, wallet }));
    const creditAccount = addresses.creditAccount(wallet);
    const tokens = world.token(creditMint, wallet);
    const thaw = await freeze(world, payout);
    const [closable, disputed] = [await jobIn(world, 'failed'), await jobIn(world, 'disputed')];
    await pass(world, 86_401n);
    const overdue = await lockJob(world);
    await pass(world, 121n);
    const duties = (own: PublicKey, rentPayer: PublicKey, payee: PublicKey) => [
      jobRefund({ job: overdue, creditAccount: own }),
      disputeExpire({ job: disputed, creditAccount: own }),
      claimPay({ claimant: worker, payout: payee }),
      jobClose({ job: closable, rentPayer }),
    ];
    for (const theft of duties(creditAccount, wallet, tokens)) {
      await expect(send(world, theft)).rejects.toThrow(/^(WrongAddress|WrongRentPayer)$/);
    }

    // Done as they are meant to be, each owner gets what is theirs.
    thaw();
    const before = (await chain.account(wallet))?.lamports;
    await send(world, ...duties(world.creditAccount, chain.payer.publicKey, payout));
    expect((await chain.account(wallet))?.lamports).toBe(before);
    expect([await chain.tokens(tokens), await chain.tokens(payout)]).toEqual([0n, 68_000n]);
    const none = { availableCredits: 0n, lockedCredits: 0n, owedCredits: 0n };
    expect(await world.read('CreditAccount', creditAccount)).toMatchObject(none);
    const held = { availableCredits: CREDITS - CHARGE, lockedCredits: 0n };
    expect(await balance()).toMatchObject(held);
  });
});
