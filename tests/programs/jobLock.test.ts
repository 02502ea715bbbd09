import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  ACCOUNT_VERSION,
  createJobId,
  gatewayUpdate,
  jobLock,
  limitSet,
  modelRetire,
  PROGRAM_ID,
  pauseSet,
  spenderSet,
} from '../../programs/client/index.ts';
import { NO_SPENDER, UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { composeLock, fail, type LockChoice, lockJob, readJob } from './support/jobs.ts';
import { addWallet } from './support/newcomers.ts';
import { withAccount } from './support/tampering.ts';
import {
  addresses,
  CREDITS,
  createWorld,
  MODEL,
  modelInstruction,
  SETTINGS,
  type World,
} from './support/world.ts';

const DAY = 86_400n;

let world: World;
let creditAccounts: PublicKey[];
beforeEach(async () => {
  world = await createWorld();
  creditAccounts = [world.creditAccount];
});
afterEach(() => expectConserved(world, { creditAccounts }));

/** Locks of two wallets under one id, whose two addresses have the bump that the program takes. */
async function composeTwins(...worlds: [World, World]) {
  for (;;) {
    const nowMs = Number(await world.chain.now()) * 1_000;
    const [first, second] = worlds;
    const { bytes: jobId } = createJobId({ nowMs, creditAccount: first.creditAccount });
    const seeds = [Buffer.from('job'), second.creditAccount.toBytes(), jobId];
    if (PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)[1] !== 255) continue;
    const locks = worlds.map(({ chain, hotSigner, gateway, wallet, creditAccount }) => ({
      job: addresses.job(creditAccount, jobId),
      instruction: jobLock({
        ...{ payer: chain.payer.publicKey, signer: hotSigner.publicKey, gateway, jobId },
        ...{ wallet: wallet.publicKey, modelId: MODEL.id, tokenLimit: 2_000, maxCredits: 8n },
      }),
    }));
    return { jobId, locks };
  }
}

const account = () => world.read('CreditAccount', world.creditAccount);
const refuses = async (
  name: Parameters<typeof expectRefusal>[1],
  choice: LockChoice = {},
): Promise<void> => {
  const { instruction } = await composeLock(world, choice);
  await expectRefusal(world, name, instruction, [choice.signer ?? world.hotSigner]);
};
const setLimits = (perJob: bigint, perDay: bigint): Promise<number> =>
  world.chain.send(
    [
      limitSet({
        wallet: world.wallet.publicKey,
        limitPerJobCredits: perJob,
        limitPerDayCredits: perDay,
      }),
    ],
    [world.wallet],
  );

describe('job_lock', () => {
  it('moves the price from available to locked and copies the terms', async () => {
    const before = await account();
    const { instruction, job, jobId } = await composeLock(world, { tokenLimit: 3_000 });
    const { creditAccount, gateway, model, wallet, chain } = world;
    const rentPayer = chain.payer.publicKey;
    const spentDay = Number((await chain.now()) / DAY);
    // 3,000 tokens at 4 credits per 1,000
    const balances = { availableCredits: CREDITS - 12n, spentDay, spentTodayCredits: 12n };
    const { id, label, originator, contextWindowTokens, ...prices } = MODEL;
    const { treasuryShareBasisPoints, slashTokens } = SETTINGS;
    const windows = { jobTimeoutSeconds: 120, disputeWindowSeconds: 60 };
    await expectEvent(world, [instruction], [world.hotSigner], 'JobLocked', {
      ...{ job, jobSequence: 1, jobId, creditAccount, creditSequence: before.sequence + 1n },
      ...{ wallet: wallet.publicKey, controller: gateway, model, modelId: id, ...prices },
      ...{ tokenLimit: 3_000, treasuryShareBasisPoints, slashTokens, ...windows },
      ...{ arbitrationWindowSeconds: 86_400, rentPayer, vouched: true, lockedCredits: 12n },
      ...{ ...balances, accountLockedCredits: 12n, limitDay: spentDay },
    });
    expect(await account()).toEqual({
      ...{ ...before, sequence: before.sequence + 1n, ...balances, lockedCredits: 12n },
    });
    expect(await readJob(world, job)).toMatchObject({
      version: ACCOUNT_VERSION,
      bump: 255,
      sequence: 1,
      status: 'pending',
      attempt: 0,
      tier: MODEL.tier,
      outcome: 'none',
      failureReason: 'none',
      treasuryShareBasisPoints: SETTINGS.treasuryShareBasisPoints,
      creditAccount: world.creditAccount,
      controller: world.gateway,
      model: world.model,
      worker: PublicKey.default,
      rentPayer: world.chain.payer.publicKey,
      lockedAt: await world.chain.now(),
      lockedCredits: 12n,
      chargedCredits: 0n,
      creditsPerRequest: MODEL.creditsPerRequest,
      creditsPer1kTokens: MODEL.creditsPer1kTokens,
      longCompletionThresholdTokens: MODEL.longCompletionThresholdTokens,
      tokenLimit: 3_000,
      slashTokens: SETTINGS.slashTokens,
      jobTimeoutSeconds: 120,
      disputeWindowSeconds: 60,
      arbitrationWindowSeconds: 86_400,
      limitDay: spentDay,
    });
  });

  it.each([
    // up to the threshold a request; above it ceil(tokens × 4 / 1000), never below a request
    [1, 8n],
    [500, 8n],
    [501, 8n],
    [2_000, 8n],
    [2_001, 9n],
    [32_768, 132n],
  ])(
    'locks for a limit of %i tokens %i credits [charging.lock-amount]',
    async (tokenLimit, credits) => {
      await lockJob(world, { tokenLimit });
      expect((await account()).lockedCredits).toBe(credits);
    },
  );

  it('accepts the wallet, the spender’s key or the gateway as the controller', async () => {
    const { wallet, stranger, chain } = world;
    const byWallet = await lockJob(world, { signer: wallet });
    expect((await readJob(world, byWallet)).controller).toEqual(wallet.publicKey);
    const set = spenderSet({ wallet: wallet.publicKey, spender: stranger.publicKey, ...UNLIMITED });
    await chain.send([set], [wallet]);
    const byKey = await lockJob(world, { signer: stranger, gateway: null });
    expect((await readJob(world, byKey)).controller).toEqual(stranger.publicKey);
  });

  it('refuses a signer that the wallet did not name', async () => {
    const { wallet, stranger, chain } = world;
    await refuses('SpenderNotSet', { signer: stranger, gateway: null });
    await refuses('SpenderNotSet', { gateway: null });
    await refuses('Unauthorized', { signer: stranger });
    await chain.send([spenderSet({ wallet: wallet.publicKey, ...NO_SPENDER })], [wallet]);
    await refuses('SpenderNotSet');
  });

  it('refuses a revoked signer and a stopped gateway at once', async () => {
    const { chain, operator, hotSigner, stranger } = world;
    const update = (signers: PublicKey[], stopped: boolean) =>
      chain.send([gatewayUpdate({ operator: operator.publicKey, signers, stopped })], [operator]);
    await update([stranger.publicKey], false);
    await refuses('Unauthorized');
    await update([hotSigner.publicKey], true);
    await refuses('GatewayStopped');
    await update([], false);
    await refuses('Unauthorized');
  });

  it('refuses while locks are paused', async () => {
    const { chain, authority } = world;
    const pause = { authority: authority.publicKey, depositsPaused: false, locksPaused: true };
    await chain.send([pauseSet(pause)], [authority]);
    await refuses('LocksPaused');
  });

  it("refuses a price above the caller's maximum", async () => {
    await refuses('PriceChanged', { tokenLimit: 2_001, maxCredits: 8n });
    await lockJob(world, { tokenLimit: 2_001, maxCredits: 9n });
  });

  it('refuses a price that rose after its quote [charging.price-changes]', async () => {
    const { chain, authority, hotSigner } = world;
    const quoted = await composeLock(world, { maxCredits: 8n });
    await chain.send([modelInstruction(world, { creditsPerRequest: 9 })], [authority]);
    await expectRefusal(world, 'PriceChanged', quoted.instruction, [hotSigner]);
    await chain.send([modelInstruction(world, { creditsPerRequest: 7 })], [authority]);
    await chain.send([quoted.instruction], [hotSigner]);
    expect((await account()).lockedCredits).toBe(8n);
  });

  it('refuses a lock above the configured cap', async () => {
    const upsert = modelInstruction(world, { creditsPerRequest: 1_001 });
    await world.chain.send([upsert], [world.authority]);
    await refuses('JobLimitExceeded', { maxCredits: 2_000n });
  });

  it('refuses zero tokens, and more than the context window', async () => {
    await refuses('TokenLimitTooLarge', { tokenLimit: MODEL.contextWindowTokens + 1 });
    await refuses('TokenLimitTooLarge', { tokenLimit: 0 });
    await lockJob(world, { tokenLimit: MODEL.contextWindowTokens });
  });

  it('applies the limit per job to the spender but not to the wallet', async () => {
    await setLimits(11n, 2n ** 64n - 1n);
    await refuses('JobLimitExceeded', { tokenLimit: 2_999 });
    await lockJob(world, { tokenLimit: 2_750 });
    await lockJob(world, { tokenLimit: 2_999, signer: world.wallet });
  });

  it('applies the limit per day in UTC to the spender', async () => {
    await setLimits(100n, 20n);
    await lockJob(world);
    await lockJob(world);
    await refuses('DayLimitExceeded');
    expect((await account()).spentTodayCredits).toBe(16n);
    await lockJob(world, { signer: world.wallet });
    expect((await account()).spentTodayCredits).toBe(16n);

    const midnight = ((await world.chain.now()) / DAY + 1n) * DAY;
    await world.chain.setTime(midnight - 1n);
    await refuses('DayLimitExceeded');
    await world.chain.setTime(midnight);
    await lockJob(world);
    expect(await account()).toMatchObject({
      spentDay: Number(midnight / DAY),
      spentTodayCredits: 8n,
    });
  });

  it('refuses a lock above the available credits [charging.concurrent]', async () => {
    const fill = modelInstruction(world, { creditsPerRequest: 1_000 });
    await world.chain.send([fill], [world.authority]);
    for (let locked = 0n; locked < CREDITS; locked += 1_000n) await lockJob(world);
    await refuses('InsufficientCredits');
    expect((await account()).availableCredits).toBe(0n);
  });

  it('refuses a model from its retirement on [models.retirement]', async () => {
    const retiresAt = (await world.chain.now()) + 30n * DAY;
    const retire = { authority: world.authority.publicKey, modelId: MODEL.id, retiresAt };
    await world.chain.send([modelRetire(retire)], [world.authority]);
    await world.chain.setTime(retiresAt - 1n);
    await lockJob(world);
    await world.chain.setTime(retiresAt);
    await refuses('ModelRetired');
  });

  it('refuses an id older than 90 seconds', async () => {
    await refuses('JobIdTooOld', { idAgeMs: 90_001 });
    await lockJob(world, { idAgeMs: 90_000 });
  });

  it('refuses an id more than 30 seconds in the future', async () => {
    await lockJob(world, { idAgeMs: -30_000 });
    await refuses('JobIdInFuture', { idAgeMs: -30_001 });
  });

  it.each([
    ['version', 6, 0x40],
    ['variant', 8, 0xc0],
  ])('refuses an id of another UUID %s', async (_, position, value) => {
    const { creditAccount } = world;
    const nowMs = Number(await world.chain.now()) * 1_000;
    const jobId = createJobId({ nowMs, creditAccount }).bytes;
    jobId[position] = value;
    const { instruction } = await composeLock(world);
    instruction.data.set(jobId, 8);
    await expectRefusal(world, 'JobIdInvalid', instruction, [world.hotSigner]);
  });

  it('refuses an address whose bump is not 255', async () => {
    const { creditAccount, wallet, hotSigner, gateway, chain } = world;
    const nowMs = Number(await chain.now()) * 1_000;
    for (;;) {
      const jobId = createJobId({ nowMs, creditAccount }).bytes;
      jobId[15] = (jobId[15] as number) ^ 1;
      const seeds = [Buffer.from('job'), creditAccount.toBytes(), jobId];
      const [, bump] = PublicKey.findProgramAddressSync(seeds, PROGRAM_ID);
      if (bump === 255) continue;
      const instruction = jobLock({
        payer: chain.payer.publicKey,
        signer: hotSigner.publicKey,
        gateway,
        wallet: wallet.publicKey,
        modelId: MODEL.id,
        jobId,
        tokenLimit: 100,
        maxCredits: 100n,
      });
      return expectRefusal(world, 'NonCanonicalBump', instruction, [hotSigner]);
    }
  });

  it('refuses the same id twice [jobs.ids]', async () => {
    const { instruction } = await composeLock(world);
    await world.chain.send([instruction], [world.hotSigner]);
    await pass(world, 1n);
    await expectRefusal(world, 'AlreadyInitialized', instruction, [world.hotSigner]);
  });

  it('accepts the same id under two wallets as two separate jobs', async () => {
    const { chain, hotSigner, wallet } = world;
    const other = await addWallet(world);
    const theirs = { ...world, wallet: other.keypair, creditAccount: other.creditAccount };
    const { jobId, locks } = await composeTwins(world, theirs);
    for (const { instruction } of locks) await chain.send([instruction], [hotSigner]);
    const [own, twin] = locks.map(({ job }) => job) as [PublicKey, PublicKey];
    expect((await readJob(world, twin)).jobId).toEqual(jobId);
    const crossed = fail(world, twin);
    await expectRefusal(world, 'WrongAddress', crossed, [hotSigner]);
    await chain.send([fail(theirs, twin)], [hotSigner]);
    expect((await readJob(world, own)).status).toBe('pending');
    expect((await account()).lockedCredits).toBe(8n);
    expect((await account()).wallet).toEqual(wallet.publicKey);
    creditAccounts.push(other.creditAccount);
  });

  it.each([1, 1_000_000, 1_000_000_000])(
    'works when its address already holds %i lamports',
    async (lamports) => {
      const { instruction, job } = await composeLock(world);
      const owner = PublicKey.default;
      world.chain.setAccount(job, { lamports, data: new Uint8Array(), owner, executable: false });
      await world.chain.send([instruction], [world.hotSigner]);
      expect((await readJob(world, job)).status).toBe('pending');
    },
  );

  it('refuses a forged config account', async () => {
    const { instruction } = await composeLock(world);
    const config = await world.chain.account(instruction.keys[3]?.pubkey as PublicKey);
    const fake = world.stranger.publicKey;
    if (config) world.chain.setAccount(fake, { ...config, owner: world.wallet.publicKey });
    const forged = withAccount(instruction, 'config', fake);
    await expectRefusal(world, 'WrongAccountOwner', forged, [world.hotSigner]);
  });
});
