import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { claimPay, workerDeregister, workerUpdate } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, expectUntil, pass } from './support/expectations.ts';
import {
  ANSWER,
  acknowledge,
  jobIn,
  lockJob,
  type Proven,
  prove,
  readJob,
  settle,
} from './support/jobs.ts';
import { addWallet, addWorker } from './support/newcomers.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, createWorld, hashOf, type World } from './support/world.ts';

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

describe('job_settle', () => {
  it('pays worker and treasury and returns the rest [charging.never-above-lock] [charging.deducted-at-settlement]', async () => {
    const job = await jobIn(world, 'settling', { tokenLimit: 3_000, completionTokens: 2_100 });
    await pass(world, 9n);
    const before = { job: await readJob(world, job), account: await account() };
    const owed = { worker: await worker(), treasury: await treasury() };
    const settlement = settle(world, job, { countedTokens: 2_100 });
    // locked 12, charged ceil(2.1 × 4) = 9 credits = 90,000 base units, 15 % to the treasury
    await expectEvent(world, [settlement], [world.hotSigner], 'JobSettled', {
      ...{ job, jobSequence: 4, jobId: before.job.jobId, creditAccount: world.creditAccount },
      ...{ creditSequence: 4n, wallet: world.wallet.publicKey },
      ...{ worker: world.worker, workerSequence: 4n, settledBy: world.hotSigner.publicKey },
      ...{ outputHash: ANSWER, promptTokens: 20, completionTokens: 2_100, countedTokens: 2_100 },
      ...{ chargedCredits: 9n, returnedCredits: 3n },
      ...{ workerBaseUnits: 76_500n, workerPaid: true, workerClaimableBaseUnits: 0n },
      ...{ treasuryBaseUnits: 13_500n, treasuryPaid: true, treasuryUnpaidBaseUnits: 0n },
      ...{ jobsSettled: 1n, treasurySequence: 1n },
      ...{ availableCredits: CREDITS - 9n, accountLockedCredits: 0n, spentTodayCredits: 9n },
    });
    expect(await readJob(world, job)).toEqual({
      ...before.job,
      sequence: 4,
      status: 'settled',
      settledBy: world.hotSigner.publicKey,
      chargedCredits: 9n,
      countedTokens: 2_100,
      endedAfterSeconds: 9,
    });
    expect(await account()).toEqual({
      ...before.account,
      sequence: 4n,
      availableCredits: CREDITS - 9n,
      lockedCredits: 0n,
      spentTodayCredits: 9n,
    });
    expect(await world.chain.tokens(world.payout)).toBe(76_500n);
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(13_500n);
    expect(await worker()).toEqual({ ...owed.worker, sequence: 4n, jobsSettled: 1n });
    expect(await treasury()).toEqual(owed.treasury);
  });

  it('charges the lower of proven and counted tokens, and at most the lock [charging.threshold]', async () => {
    const charged = async (
      choice: Proven & { tokenLimit: number },
      countedTokens: number,
    ): Promise<bigint> => {
      const job = await jobIn(world, 'settling', choice);
      await world.chain.send([settle(world, job, { countedTokens })], [world.hotSigner]);
      return (await readJob(world, job)).chargedCredits;
    };
    expect(await charged({ tokenLimit: 10_000, completionTokens: 9_000 }, 4_001)).toBe(17n);
    expect(await charged({ tokenLimit: 10_000, completionTokens: 4_001 }, 9_000)).toBe(17n);
    expect(await charged({ tokenLimit: 3_000, completionTokens: 90_000 }, 90_000)).toBe(12n);
    // the published step down above the threshold: 501 tokens cost ceil(2.004) = 3
    expect(await charged({ tokenLimit: 2_000, completionTokens: 500 }, 500)).toBe(8n);
    expect(await charged({ tokenLimit: 2_000, completionTokens: 501 }, 501)).toBe(3n);
    expect(await charged({ tokenLimit: 2_000, completionTokens: 0 }, 1)).toBe(8n);
    const most = 2 ** 32 - 1;
    expect(await charged({ tokenLimit: 32_768, completionTokens: most }, most)).toBe(132n);
  });

  it('acknowledges, proves and settles in one transaction', async () => {
    const job = await lockJob(world);
    await world.chain.send(
      [acknowledge(world, job), prove(world, job), settle(world, job)],
      [world.hotSigner],
    );
    expect((await readJob(world, job)).status).toBe('settled');
  });

  it('works when the proof or the acknowledgement landed alone before', async () => {
    const { chain, hotSigner } = world;
    for (const status of ['processing', 'settling'] as const) {
      const job = await jobIn(world, status);
      const together = [acknowledge(world, job), prove(world, job), settle(world, job)];
      await chain.send(together, [hotSigner]);
      expect((await readJob(world, job)).status).toBe('settled');
    }
  });

  it('refuses another output, and an empty one', async () => {
    const job = await jobIn(world, 'settling');
    const other = settle(world, job, { deliveredHash: hashOf('another') });
    await expectRefusal(world, 'OutputMismatch', other, [world.hotSigner]);
    const empty = settle(world, job, { countedTokens: 0 });
    await expectRefusal(world, 'NothingCounted', empty, [world.hotSigner]);
  });

  it('succeeds until its deadline and fails a second after [failures.ledger-time]', async () => {
    const jobs = [
      await jobIn(world, 'settling'),
      await jobIn(world, 'settling'),
      await jobIn(world, 'settling'),
    ];
    const sent = jobs.map((job) => settle(world, job));
    await expectUntil(world, 120n, 'DeadlinePassed', sent, [world.hotSigner]);
  });

  it('refuses every signer but the controller', async () => {
    const job = await jobIn(world, 'settling');
    for (const signer of [world.wallet, world.stranger, world.workerAuthority]) {
      const instruction = settle(world, job, { signer: signer.publicKey });
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
  });

  it.each(['pending', 'processing', 'settled', 'failed', 'refunded', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      const isUnassigned = ['pending', 'failed', 'refunded'].includes(status);
      const refusal = isUnassigned ? 'WrongAddress' : 'WrongJobStatus';
      await expectRefusal(world, refusal, settle(world, job), [world.hotSigner]);
    },
  );

  it('refuses another worker, wallet or payee than the job’s', async () => {
    const { chain, hotSigner, creditMint, stranger } = world;
    const job = await jobIn(world, 'settling');
    const elsewhere = world.token(creditMint, stranger.publicKey);
    for (const payee of [elsewhere, addresses.vault, addresses.treasuryVault]) {
      const instruction = settle(world, job, { workerPayout: payee });
      await expectRefusal(world, 'WrongAddress', instruction, [hotSigner]);
    }
    const wrong = withAccount(settle(world, job), 'treasury_vault', world.payout);
    await expectRefusal(world, 'WrongAddress', wrong, [hotSigner]);
    await chain.send([settle(world, job)], [hotSigner]);
  });

  it('cannot charge another wallet or pay another worker', async () => {
    const { chain, hotSigner } = world;
    const job = await jobIn(world, 'settling');
    const wallet = await addWallet(world);
    const twin = await addWorker(world);
    const { creditAccount } = wallet;
    const ofOther = settle(world, job, { creditAccount });
    await expectRefusal(world, 'WrongAddress', ofOther, [hotSigner]);
    const toOther = settle(world, job, { worker: twin.address, workerPayout: twin.payout });
    await expectRefusal(world, 'WrongAddress', toOther, [hotSigner]);
    await chain.send([settle(world, job)], [hotSigner]);
    parties.creditAccounts.push(creditAccount);
    parties.workers.push(twin.address);
  });

  it('pays a worker that changed its payee or deregistered after the proof', async () => {
    const { chain, hotSigner, workerAuthority, creditMint, proofKey } = world;
    const authority = workerAuthority.publicKey;
    const job = await jobIn(world, 'settling');
    const payout = world.token(creditMint, authority);
    await chain.send(
      [
        workerUpdate({
          authority,
          payout,
          proofKey: proofKey.publicKey,
          endpoint: 'https://elsewhere.example',
        }),
        workerDeregister({ authority }),
      ],
      [workerAuthority],
    );
    await chain.send([settle(world, job, { workerPayout: payout })], [hotSigner]);
    expect(await chain.tokens(payout)).toBe(68_000n);
  });
});

describe('a payment that cannot be made', () => {
  const settled = async () => {
    const job = await jobIn(world, 'settling');
    await world.chain.send([settle(world, job)], [world.hotSigner]);
    expect((await readJob(world, job)).status).toBe('settled');
  };
  const claimWorker = () => claimPay({ claimant: world.worker, payout: world.payout });
  const claimTreasury = () => claimPay({ claimant: addresses.treasury });
  const freeze = async (address: typeof world.payout, owner = addresses.vaultAuthority) => {
    const baseUnits = await world.chain.tokens(address);
    const token = { mint: world.creditMint, owner, baseUnits };
    world.chain.setToken(address, { ...token, frozen: true });
    return () => world.chain.setToken(address, token);
  };

  it('becomes claimable when the worker’s account is frozen', async () => {
    const thaw = await freeze(world.payout, world.workerAuthority.publicKey);
    const job = await jobIn(world, 'settling');
    const { jobId } = await readJob(world, job);
    await expectEvent(world, [settle(world, job)], [world.hotSigner], 'JobSettled', {
      ...{ job, jobSequence: 4, jobId, creditAccount: world.creditAccount },
      ...{ creditSequence: 4n, wallet: world.wallet.publicKey },
      ...{ worker: world.worker, workerSequence: 4n, settledBy: world.hotSigner.publicKey },
      ...{ outputHash: ANSWER, promptTokens: 20, completionTokens: 300, countedTokens: 300 },
      ...{ chargedCredits: 8n, returnedCredits: 0n },
      ...{ workerBaseUnits: 68_000n, workerPaid: false, workerClaimableBaseUnits: 68_000n },
      ...{ treasuryBaseUnits: 12_000n, treasuryPaid: true, treasuryUnpaidBaseUnits: 0n },
      ...{ jobsSettled: 1n, treasurySequence: 1n },
      ...{ availableCredits: CREDITS - 8n, accountLockedCredits: 0n, spentTodayCredits: 8n },
    });
    await settled();
    expect((await worker()).claimableBaseUnits).toBe(136_000n);
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(24_000n);
    await expectRefusal(world, 'PayeeUnavailable', claimWorker());
    thaw();
    await world.chain.send([claimWorker()]);
    expect(await world.chain.tokens(world.payout)).toBe(136_000n);
    await expectRefusal(world, 'NothingToClaim', claimWorker());
  });

  it.each([
    ['closed', () => null],
    ['of another mint', () => world.stakeMint],
  ])('becomes claimable when the worker’s account is %s', async (_, mint) => {
    const other = mint();
    if (other === null) {
      world.chain.setAccount(world.payout, {
        lamports: 0,
        data: new Uint8Array(),
        owner: world.stranger.publicKey,
        executable: false,
      });
    } else {
      world.chain.setToken(world.payout, {
        mint: other,
        owner: world.workerAuthority.publicKey,
        baseUnits: 0n,
      });
    }
    await settled();
    expect((await worker()).claimableBaseUnits).toBe(68_000n);
    await expectRefusal(world, 'PayeeUnavailable', claimWorker());
  });

  it('stays unpaid when the treasury’s vault is frozen', async () => {
    const thaw = await freeze(addresses.treasuryVault);
    await settled();
    expect(await treasury()).toMatchObject({ unpaidBaseUnits: 12_000n, sequence: 2n });
    expect(await world.chain.tokens(world.payout)).toBe(68_000n);
    await expectRefusal(world, 'PayeeUnavailable', claimTreasury());
    thaw();
    await world.chain.send([claimTreasury()]);
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(12_000n);
    await expectRefusal(world, 'NothingToClaim', claimTreasury());
  });

  it('leaves both shares in the vault when the vault is frozen', async () => {
    const thaw = await freeze(addresses.vault);
    await settled();
    expect((await worker()).claimableBaseUnits).toBe(68_000n);
    expect((await treasury()).unpaidBaseUnits).toBe(12_000n);
    thaw();
    await world.chain.send([claimWorker(), claimTreasury()]);
    expect(await world.chain.tokens(world.payout)).toBe(68_000n);
  });
});
