import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ed25519Program, Keypair, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { type AddedAccount, start } from 'solana-bankrun';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import { finalProgram, startLoaded } from '../../testing/kit/bankrun.ts';
import {
  type EscrowOptions,
  Refusal,
  STANDARD_MODEL,
  startEscrow,
  type TestWallet,
  type TestWorker,
} from '../../testing/kit/index.ts';

const DAY_SECONDS = 86_400;
const LITE_MODEL = { ...STANDARD_MODEL, id: 'lite-3b', tier: 'lite' } as const;

describe.each(['litesvm', 'bankrun'] as const)('startEscrow in %s', (ledger) => {
  it('completes a job in one step, whether or not a worker has it', async () => {
    const escrow = await startEscrow({ ledger, workers: [{}, {}] });
    const [first, second] = escrow.workers as [TestWorker, TestWorker];
    const fresh = await escrow.complete(await escrow.lock(), { text: 'Hello.' });
    expect(fresh).toMatchObject({ status: 'settled', attempt: 1, worker: first.address });
    expect(fresh).toMatchObject({ completionTokens: 300, countedTokens: 300, chargedCredits: 8n });
    const job = await escrow.lock();
    await escrow.acknowledge(job, second);
    const counts = { completionTokens: 900, countedTokens: 700 };
    const assigned = await escrow.complete(job, counts);
    expect(assigned).toMatchObject({ attempt: 1, worker: second.address, ...counts });
    const moved = await escrow.lock();
    await escrow.acknowledge(moved, second);
    const taken = await escrow.complete(moved, { worker: first });
    expect(taken).toMatchObject({ status: 'settled', attempt: 2, worker: first.address });
    const proven = await escrow.jobIn('settling');
    await expect(escrow.complete(proven)).rejects.toThrow(/^ProofAlreadyGiven$/);
  });

  it('creates the requested wallets, models, workers and settings', async () => {
    const escrow = await startEscrow({
      ledger,
      settings: { treasuryShareBasisPoints: 0, minimumStakeTokens: 2_000n },
      models: [LITE_MODEL, STANDARD_MODEL],
      wallets: [{ credits: 0n }, { credits: 20n }],
      workers: [{ modelIds: [] }, { stakeTokens: 3_000n }],
    });
    const [poor, rich] = escrow.wallets as [TestWallet, TestWallet];
    const [idle, busy] = escrow.workers as [TestWorker, TestWorker];
    await expect(escrow.lock()).rejects.toThrow(/^InsufficientCredits$/);
    const job = await escrow.lock({ wallet: rich, modelId: STANDARD_MODEL.id });
    await expect(escrow.acknowledge(job, idle)).rejects.toThrow(/^WorkerDoesNotHostModel$/);
    await escrow.acknowledge(job, busy);
    await escrow.prove(job);
    await escrow.settle(job);
    expect(await escrow.tokens(busy.payout)).toBe(80_000n);
    expect(await escrow.creditAccount(rich)).toMatchObject({ availableCredits: 12n });
    expect(await escrow.creditAccount(poor)).toMatchObject({ availableCredits: 0n });
    expect(await escrow.worker(busy)).toMatchObject({ stakeTokens: 3_000n });
    expect(await escrow.worker()).toMatchObject({ stakeTokens: 2_000n, modelsLen: 0 });
  });

  it('locks a job at any permitted price, unless the quoted price is given', async () => {
    const escrow = await startEscrow({
      ledger,
      settings: { jobCreditsMax: 100_000n },
      models: [{ ...STANDARD_MODEL, creditsPerRequest: 2_000 }],
    });
    const named = escrow.lock({ maxCredits: 1_999n });
    await expect(named).rejects.toThrow(/^PriceChanged$/);
    const job = await escrow.lock({ tokenLimit: 500 });
    expect(await escrow.job(job)).toMatchObject({ lockedCredits: 2_000n });
  });

  it('ends a job in every way, and names every refusal', async () => {
    const escrow = await startEscrow({ ledger });
    const failed = await escrow.lock();
    expect(await escrow.fail(failed, 'proof_missing')).toMatchObject({
      status: 'failed',
      failureReason: 'proof_missing',
    });

    const late = await escrow.jobIn('processing');
    await escrow.advanceSeconds(JOB_TIMEOUT_SECONDS);
    const tooEarly = await escrow.refund(late).catch((error: unknown) => error);
    expect(tooEarly).toBeInstanceOf(Refusal);
    expect(tooEarly).toMatchObject({ name: 'Refusal', message: 'DeadlineNotReached' });
    await escrow.advanceSeconds(1);
    expect(await escrow.refund(late)).toMatchObject({ status: 'refunded' });

    const mismatch = await escrow.jobIn('settling');
    const another = escrow.settle(mismatch, { text: 'another text' });
    await expect(another).rejects.toThrow(/^OutputMismatch$/);
    expect(await escrow.fail(mismatch, 'output_mismatch')).toMatchObject({ status: 'failed' });

    const undecided = await escrow.jobIn('disputed');
    await escrow.advanceSeconds(DAY_SECONDS + 1);
    expect(await escrow.expire(undecided)).toMatchObject({ status: 'settled', outcome: 'expired' });
    await escrow.close(undecided);
    await expect(escrow.job(undecided)).rejects.toThrow('no Job at');
  });

  it('buys and withdraws credits, and sets the given time', async () => {
    const escrow = await startEscrow({ ledger, wallets: [{ credits: 10n }] });
    const before = await escrow.tokens(escrow.wallets[0].tokens);
    expect(await escrow.buy(5n)).toMatchObject({ availableCredits: 15n });
    expect(await escrow.withdraw(15n)).toMatchObject({ availableCredits: 0n });
    expect(await escrow.tokens(escrow.wallets[0].tokens)).toBe(before + 100_000n);
    const soon = (await escrow.now()) + 3_600n;
    await escrow.setTime(soon);
    expect(await escrow.now()).toBe(soon);
    expect(await escrow.buy(1n)).toMatchObject({ lastTopupAt: soon });
    await escrow.setTime(soon - 7_200n);
    expect(await escrow.buy(1n)).toMatchObject({ lastTopupAt: soon - 7_200n });
  });

  it('refuses what the program does not allow from the start', async () => {
    const tooMuch = startEscrow({ ledger, settings: { treasuryShareBasisPoints: 20_000 } });
    await expect(tooMuch).rejects.toThrow(/^ValueOutOfRange$/);
  });
});

describe('startEscrow with its defaults', () => {
  it('refuses by name a signature that the ed25519 program refuses', async () => {
    const escrow = await startEscrow();
    const { publicKey } = escrow.stranger;
    const forged = Ed25519Program.createInstructionWithPublicKey({
      publicKey: publicKey.toBytes(),
      message: Buffer.from('what the stranger never signed'),
      signature: new Uint8Array(64),
    });
    await expect(escrow.send([forged])).rejects.toThrow(
      /^Error processing Instruction 0: custom program error: 0x2$/,
    );
  });

  it('names the refusals of the runtime itself', async () => {
    const escrow = await startEscrow();
    const tooMuch = SystemProgram.transfer({
      fromPubkey: escrow.stranger.publicKey,
      toPubkey: escrow.hotSigner.publicKey,
      lamports: Number.MAX_SAFE_INTEGER,
    });
    await expect(escrow.send([tooMuch], [escrow.stranger])).rejects.toThrow(
      /^Error processing Instruction 0: custom program error: 0x1$/,
    );
    const rentless = SystemProgram.transfer({
      fromPubkey: escrow.stranger.publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: 1,
    });
    await expect(escrow.send([rentless], [escrow.stranger])).rejects.toThrow(
      'InsufficientFundsForRent',
    );
    const unknown = new TransactionInstruction({
      programId: escrow.stranger.publicKey,
      keys: [],
    });
    await expect(escrow.send([unknown])).rejects.toThrow(/^InvalidProgramForExecution$/);
  });
});

describe('the options of startEscrow', () => {
  it.each([
    ["no option 'walets', but ledger, settings, models, wallets, workers", { walets: [{}] }],
    ["no ledger 'validator', but litesvm, bankrun", { ledger: 'validator' }],
    ["no field of settings 'slash', but arbiter, treasuryShare", { settings: { slash: 1 } }],
    ["no field of models 'name', but id, tier", { models: [{ ...STANDARD_MODEL, name: 'x' }] }],
    ["no field of wallets 'credit', but credits", { wallets: [{}, { credit: 1n }] }],
    ["no field of workers 'stake', but stakeTokens, modelIds", { workers: [{ stake: 1n }] }],
  ])('are refused by name: %s', async (words, options) => {
    const refusal = await startEscrow(options as EscrowOptions).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TypeError);
    expect(String(refusal)).toContain(`startEscrow has ${words}`);
  });
});

describe('startEscrow in solana-bankrun', () => {
  it('explains where events are available', async () => {
    const escrow = await startEscrow({ ledger: 'bankrun' });
    expect(() => escrow.lastEvents()).toThrow("ledger: 'litesvm'");
  });
});

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v0.so');

const whole = finalProgram();
const damaged = finalProgram(readFileSync(ARTIFACT).fill(0xff, 0x200, 0x4000));

/** Starts chains one after the other, each with the next of the programs. */
const startWith = (programs: readonly AddedAccount[][]) => {
  const left = [...programs];
  const startNext: typeof start = (named) => start(named, left.shift() ?? []);
  return { startNext, left };
};

describe('the start of a chain in solana-bankrun', () => {
  it('uses another chain when one did not load the program', async () => {
    const { startNext, left } = startWith([damaged, whole, whole]);
    await startLoaded(startNext, whole);
    expect(left).toHaveLength(1);
  });

  it("reports the runtime's error when no chain loads the program", async () => {
    await expect(startLoaded(start, damaged)).rejects.toThrow('Program is not deployed');
  });
});
