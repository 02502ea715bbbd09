import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  claimPay,
  creditOpen,
  disputeExpire,
  gatewayUpdate,
  gatewayVouch,
  jobClose,
  jobRefund,
  limitSet,
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  signHashed,
  slashBurn,
  verdictInstruction,
} from '../../programs/client/index.ts';
import { PAST_WINDOW_SECONDS } from '../../testing/kit/jobInstructions.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import {
  ANSWER,
  acknowledge,
  complete,
  composeLock,
  dispute,
  fail,
  jobIn,
  lockJob,
  prove,
  REQUEST,
  readJob,
  settle,
} from './support/jobs.ts';
import { composeVerdict, decide, passDisputeWindow } from './support/verdicts.ts';
import {
  addresses,
  BASE_UNITS_PER_CREDIT,
  CREDITS,
  createWorld,
  hashOf,
  STAKE_TOKENS,
  type World,
} from './support/world.ts';

/** What one job of the test model is charged. */
const CHARGE = 8n;
/** What the treasury receives of it, in whole credits. */
const TREASURY_CREDITS = 1n;
const GARBAGE = hashOf('garbage');

const signedBy = (key: Keypair, message: Uint8Array) => ({
  publicKey: key.publicKey,
  message,
  signature: signHashed(message, key),
});

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const balance = () => world.read('CreditAccount', world.creditAccount);
const stop = () => {
  const { chain, operator, hotSigner } = world;
  const signers = [hotSigner.publicKey];
  const change = { operator: operator.publicKey, signers, stopped: true };
  return chain.send([gatewayUpdate(change)], [operator]);
};

describe('a stolen hot signer with a worker of its own', () => {
  /** Charges one job to the wallet, for a text that no client requested. */
  const steal = async () => {
    const { chain, hotSigner } = world;
    const { instruction, job } = await composeLock(world);
    await chain.send([instruction, complete(world, job)], [hotSigner]);
  };

  it('takes no more in a day than the wallet’s limit', async () => {
    const { chain, wallet } = world;
    const limits = { limitPerJobCredits: CHARGE, limitPerDayCredits: 3n * CHARGE };
    await chain.send([limitSet({ wallet: wallet.publicKey, ...limits })], [wallet]);
    for (let job = 0; job < 3; job += 1) await steal();
    await expect(steal()).rejects.toThrow(/^DayLimitExceeded$/);
    expect(await balance()).toMatchObject({ availableCredits: CREDITS - 3n * CHARGE });
  });

  it('takes only what its worker was given before, once the gateway is stopped', async () => {
    const { chain, hotSigner } = world;
    const pending = await lockJob(world);
    const given = await jobIn(world, 'processing');
    await stop();
    await expect(steal()).rejects.toThrow(/^GatewayStopped$/);
    for (const attempt of [acknowledge, complete]) {
      await expectRefusal(world, 'GatewayStopped', attempt(world, pending), [hotSigner]);
      const again = attempt(world, given, { attempt: 2 });
      await expectRefusal(world, 'GatewayStopped', again, [hotSigner]);
    }
    await chain.send([complete(world, given)], [hotSigner]);
    expect(await balance()).toMatchObject({ lockedCredits: CHARGE });
  });
});

describe('a worker that proves garbage', () => {
  it('cannot bring back a replaced proof, and is not convicted by it', async () => {
    const { chain, hotSigner } = world;
    const job = await jobIn(world, 'settling', { outputHash: GARBAGE });
    await chain.send([acknowledge(world, job, { attempt: 2 })], [hotSigner]);
    const old = prove(world, job, { outputHash: GARBAGE });
    await expectRefusal(world, 'SignatureInvalid', old);
    await chain.send([prove(world, job, { attempt: 2 }), settle(world, job)], [hotSigner]);
    await chain.send([dispute(world, job)], [world.wallet]);
    await passDisputeWindow(world);
    const { worker, promptTokens, completionTokens, outputHash } = await readJob(world, job);
    const output = { promptTokens, completionTokens, requestCommitment: REQUEST };
    const about = { programId: PROGRAM_ID, job, worker, ...output };
    const signed = (attempt: number, hash: Uint8Array) =>
      signedBy(world.proofKey, proofMessage({ ...about, attempt, outputHash: hash }));
    const evidence = [signed(2, outputHash), signed(1, GARBAGE)];
    const { arbiter, creditAccount } = world;
    const named = { arbiter: arbiter.publicKey, job, creditAccount, worker };
    const verdict = verdictInstruction(evidence, { ...named, verdict: 'upheld_worker' });
    await expectRefusal(world, 'SignatureInvalid', verdict, [arbiter]);
  });

  it('is not completed over, even where it and the controller agree', async () => {
    const { chain, hotSigner } = world;
    const job = await jobIn(world, 'settling', { outputHash: GARBAGE });
    const proof = await readJob(world, job);
    for (const choice of [{}, { outputHash: GARBAGE }, { attempt: 2 }]) {
      const instruction = complete(world, job, choice);
      await expectRefusal(world, 'ProofAlreadyGiven', instruction, [hotSigner]);
    }
    expect(await readJob(world, job)).toEqual(proof);
    // Once a later attempt has put the proof aside, nothing stands in the way.
    const later = acknowledge(world, job, { attempt: 2 });
    await chain.send([later, complete(world, job, { attempt: 2 })], [hotSigner]);
    expect(await readJob(world, job)).toMatchObject({ status: 'settled', outputHash: ANSWER });
  });

  it('returns the lock at the last attempt, since the controller can fail it', async () => {
    const { chain, hotSigner } = world;
    const job = await lockJob(world);
    await chain.send([acknowledge(world, job, { attempt: 255 })], [hotSigner]);
    await chain.send([prove(world, job, { attempt: 255, outputHash: GARBAGE })]);
    for (const attempt of [1, 254]) {
      const later = acknowledge(world, job, { attempt });
      await expectRefusal(world, 'AttemptNotNewer', later, [hotSigner]);
    }
    const reason = 'output_mismatch' as const;
    await chain.send(
      [fail(world, job, { reason, deliveredHash: hashOf('the text') })],
      [hotSigner],
    );
    expect(await balance()).toMatchObject({ availableCredits: CREDITS, lockedCredits: 0n });
  });

  it('is replaced up to the last second of the job, and not after it', async () => {
    const { chain, hotSigner } = world;
    const [late, overdue] = [
      await jobIn(world, 'settling', { outputHash: GARBAGE }),
      await jobIn(world, 'settling', { outputHash: GARBAGE }),
    ];
    await pass(world, 120n);
    await chain.send([acknowledge(world, late, { attempt: 2 })], [hotSigner]);
    await pass(world, 1n);
    const later = acknowledge(world, overdue, { attempt: 2 });
    await expectRefusal(world, 'DeadlinePassed', later, [hotSigner]);
  });
});

describe('evidence', () => {
  const receiptBy = (key: Keypair, job: PublicKey) => {
    const outputHash = hashOf('another answer');
    return signedBy(key, receiptMessage({ programId: PROGRAM_ID, job, outputHash }));
  };
  /** @param about the job that the receipt is of */
  const againstGateway = (key: Keypair, job: PublicKey, about = job) => {
    const { arbiter, creditAccount, worker, gateway } = world;
    const named = { arbiter: arbiter.publicKey, gateway, job, creditAccount, worker };
    return verdictInstruction([receiptBy(key, about)], { ...named, verdict: 'upheld_gateway' });
  };
  const setSigners = (...keys: Keypair[]) => {
    const { chain, operator } = world;
    const signers = keys.map(({ publicKey }) => publicKey);
    const change = { operator: operator.publicKey, signers, stopped: false };
    return chain.send([gatewayUpdate(change)], [operator]);
  };

  it('counts only while its signer, if that did not settle, is listed', async () => {
    const { chain, arbiter, hotSigner } = world;
    const job = await jobIn(world, 'disputed');
    await passDisputeWindow(world);
    const guest = Keypair.generate();
    await expectRefusal(world, 'ProofWrongKey', againstGateway(guest, job), [arbiter]);
    await setSigners(hotSigner, guest);
    await setSigners(hotSigner);
    await expectRefusal(world, 'ProofWrongKey', againstGateway(guest, job), [arbiter]);
    await setSigners(guest);
    await chain.send([againstGateway(guest, job)], [arbiter]);
    expect((await readJob(world, job)).outcome).toBe('upheld_gateway');
  });

  it('decides no other job, by any program that calls for both', async () => {
    const { chain, arbiter } = world;
    chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')] as const;
    await passDisputeWindow(world);
    const verdict = againstGateway(world.hotSigner, jobs[0]);
    const otherVerdict = againstGateway(world.hotSigner, jobs[1], jobs[0]);
    const both = callThrough(verdict, otherVerdict);
    await expectRefusal(world, 'SignatureInvalid', both, [arbiter]);
    await chain.send([callThrough(verdict)], [arbiter]);
    const statuses = await Promise.all(jobs.map(async (job) => (await readJob(world, job)).status));
    expect(statuses).toEqual(['refunded', 'disputed']);
  });
});

describe('a dispute that the wallet amends in its last second', () => {
  it('can be judged in that second, and expires in the next', async () => {
    const { chain, wallet, hotSigner, gateway, arbiter, creditAccount } = world;
    const byController = { signer: hotSigner.publicKey, gateway };
    const jobs: PublicKey[] = [];
    for (let count = 0; count < 2; count += 1) {
      const job = await jobIn(world, 'settled');
      await chain.send([dispute(world, job, byController)], [hotSigner]);
      jobs.push(job);
    }
    await pass(world, 86_400n);
    for (const job of jobs) {
      await chain.send([dispute(world, job, { clientHash: hashOf('mine') })], [wallet]);
    }
    const [judged, unjudged] = jobs as [PublicKey, PublicKey];
    await chain.send([await composeVerdict(world, judged, 'upheld_worker')], [arbiter]);
    await expectRefusal(world, 'ArbitrationOpen', disputeExpire({ job: unjudged, creditAccount }));
    await pass(world, 1n);
    await chain.send([disputeExpire({ job: unjudged, creditAccount })]);
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
    const { chain, authority, gateway } = world;
    const before = await unowed();
    for (let round = 0n; round < ROUNDS; round += 1n) await repay();
    // Of each charge of 80,000 base units the treasury had received 12,000.
    expect((await unowed()) - before).toBe(-ROUNDS * 68_000n);
    expect(await balance()).toMatchObject({ owedCredits: ROUNDS * CHARGE });
    const vouch = { authority: authority.publicKey, gateway, vouched: false };
    await chain.send([gatewayVouch(vouch)], [authority]);
    await repay();
    expect((await unowed()) - before).toBe(-ROUNDS * 68_000n + 2_000n);
  });

  it('is not stopped by the treasury’s floor, which a withdrawal alone keeps', async () => {
    world = await createWorld({ treasuryFloorCredits: 1_000_000n });
    await repay();
    const { chain, creditAccount } = world;
    const held = await chain.tokens(addresses.treasuryVault);
    await chain.send([claimPay({ claimant: creditAccount })]);
    // There was one job's share, which is less than is owed.
    expect(await chain.tokens(addresses.treasuryVault)).toBeLessThan(held);
  });
});

describe('a worker that convicts itself behind a vouched gateway', () => {
  const owedCredits = async () => (await balance()).owedCredits;

  it('is repaid in full only while its stake bears the whole slash', async () => {
    const { chain } = world;
    const slashed: bigint[] = [];
    const repaid: bigint[] = [];
    const jobs: PublicKey[] = [];
    for (let count = 0; count < 3; count += 1) jobs.push(await jobIn(world, 'settled'));
    for (const job of jobs) await chain.send([dispute(world, job)], [world.wallet]);
    await pass(world, PAST_WINDOW_SECONDS);
    for (const job of jobs) {
      const owedBefore = await owedCredits();
      const before = (await world.read('Worker', world.worker)).stakeTokens;
      await chain.send([await composeVerdict(world, job, 'upheld_worker')], [world.arbiter]);
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
    await passDisputeWindow(world);
    for (const job of jobs) {
      await world.chain.send([await composeVerdict(world, job, 'upheld_worker')], [world.arbiter]);
    }
    expect(await world.read('Worker', world.worker)).toMatchObject({ stakeTokens: 0n });
    expect(await owedCredits()).toBe(CHARGE + TREASURY_CREDITS);
    const charged = await Promise.all(
      jobs.map(async (job) => (await readJob(world, job)).chargedCredits),
    );
    expect(charged).toEqual([0n, CHARGE - TREASURY_CREDITS]);
  });

  it('loses no more where its slashed tokens are burnt between two verdicts', async () => {
    const { chain, arbiter, stakeMint } = world;
    const jobs = [await jobIn(world, 'disputed'), await jobIn(world, 'disputed')];
    await passDisputeWindow(world);
    for (const job of jobs) {
      const verdict = await composeVerdict(world, job, 'upheld_worker');
      await chain.send([verdict, slashBurn({ stakeMint })], [arbiter]);
    }
    const { slashedStakeTokens } = await world.read('Treasury', addresses.treasury);
    const { stakeTokens } = await world.read('Worker', world.worker);
    expect([slashedStakeTokens, stakeTokens]).toEqual([0n, 0n]);
  });
});

describe('a stolen crank’s key', () => {
  it('gets nothing by any of its duties: no credit, no token, no rent', async () => {
    const { chain, stranger: thief, creditMint, worker, payout, workerAuthority } = world;
    const wallet = thief.publicKey;
    await chain.send([creditOpen({ payer: wallet, wallet })], [thief]);
    const creditAccount = addresses.creditAccount(wallet);
    const tokens = world.token(creditMint, wallet);
    const payee = { mint: creditMint, owner: workerAuthority.publicKey, baseUnits: 0n };
    chain.setToken(payout, { ...payee, frozen: true });
    const [closable, disputed] = [await jobIn(world, 'failed'), await jobIn(world, 'disputed')];
    await pass(world, 86_401n);
    const overdue = await lockJob(world);
    await pass(world, 121n);

    await expectRefusal(world, 'WrongAddress', jobRefund({ job: overdue, creditAccount }));
    await expectRefusal(world, 'WrongAddress', disputeExpire({ job: disputed, creditAccount }));
    await expectRefusal(world, 'WrongRentPayer', jobClose({ job: closable, rentPayer: wallet }));
    const claim = claimPay({ claimant: worker, payout: tokens });
    await expectRefusal(world, 'WrongAddress', claim);

    // Done as they are meant to be, each owner gets what is theirs.
    chain.setToken(payout, payee);
    const own = world.creditAccount;
    const before = (await chain.account(wallet))?.lamports;
    await chain.send(
      [
        jobRefund({ job: overdue, creditAccount: own }),
        disputeExpire({ job: disputed, creditAccount: own }),
        jobClose({ job: closable, rentPayer: chain.payer.publicKey }),
        claimPay({ claimant: worker, payout }),
      ],
      [],
    );
    expect((await chain.account(wallet))?.lamports).toBe(before);
    expect(await chain.tokens(tokens)).toBe(0n);
    expect(await chain.tokens(payout)).toBe(68_000n);
    expect(await world.read('CreditAccount', creditAccount)).toMatchObject({
      ...{ availableCredits: 0n, lockedCredits: 0n, owedCredits: 0n },
    });
    expect(await balance()).toMatchObject({
      availableCredits: CREDITS - CHARGE,
      lockedCredits: 0n,
    });
  });
});
