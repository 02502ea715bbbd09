import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import {
  createAddresses,
  createJobId,
  decodeEvents,
  fetchAllJobs,
  fetchCreditAccount,
  fetchJob,
  fetchModel,
  fetchWorker,
  jobAcknowledge,
  jobComplete,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  modelText,
  PROGRAM_ID,
  proofMessage,
  signHashed,
  workerModels,
} from '../../programs/client/index.ts';
import {
  COSTS,
  createBatcher,
  createLedgerClock,
  createSender,
  type LedgerClock,
  type Sender,
  type SendResult,
} from '../../programs/client/sender/index.ts';
import {
  advanceSeconds,
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';

const LOCK_CREDITS = 8n;
const COMPUTE_UNITS = 60_000;
const REQUEST_COMMITMENT = Uint8Array.from({ length: 32 }, (_, index) => index);
const OUTPUT_HASH = createHash('sha256').update('the whole answer').digest();
const addresses = createAddresses();

let ledger: TestLedger;
let service: Service;
let sender: Sender;
let clock: LedgerClock;

const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  closers.push(ledger.close);
  service = await openService(ledger);
  const { rpc, payer } = ledger;
  sender = createSender({
    rpc,
    feePayers: [payer],
    commitment: 'confirmed',
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  clock = createLedgerClock({ rpc });
  closers.push(sender.close, clock.close);
  await clock.ready;
});

afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

interface TestJob {
  address: PublicKey;
  lock: TransactionInstruction;
}

function newJob({ maxCredits = LOCK_CREDITS } = {}): TestJob {
  const { creditAccount, gateway, hotSigner, wallet, model } = service;
  const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount });
  const lock = jobLock({
    payer: ledger.payer.publicKey,
    signer: hotSigner.publicKey,
    gateway,
    wallet: wallet.publicKey,
    modelId: model.id,
    jobId: bytes,
    tokenLimit: 2_000,
    maxCredits,
  });
  return { address, lock };
}

function acknowledge({ address: job }: TestJob): TransactionInstruction {
  const { gateway, hotSigner, worker } = service;
  return jobAcknowledge({ signer: hotSigner.publicKey, gateway, job, worker, attempt: 1 });
}

/** The worker's proof of a job's answer, signed. */
function proofOf({ address: job }: TestJob) {
  const { worker, proofKey } = service;
  const proof = {
    ...{ job, worker, attempt: 1, outputHash: OUTPUT_HASH, promptTokens: 10 },
    ...{ completionTokens: 600, requestCommitment: REQUEST_COMMITMENT },
  };
  const message = proofMessage({ programId: PROGRAM_ID, ...proof });
  return { ...proof, signature: signHashed(message, proofKey) };
}

/** Who settles a job, for what was delivered. */
async function settlementOf() {
  const { hotSigner, gateway, creditAccount, worker } = service;
  const account = await fetchWorker(ledger.connection, worker);
  const workerPayout = account?.payout as PublicKey;
  const signer = hotSigner.publicKey;
  return { signer, gateway, creditAccount, worker, workerPayout, countedTokens: 599 };
}

function send(instructions: TransactionInstruction[]): Promise<SendResult> {
  const signers = [service.hotSigner];
  return sender.send({ instructions, signers, computeUnitLimit: COMPUTE_UNITS });
}

async function statusOf({ address }: TestJob, slot = 0) {
  const job = await fetchJob(ledger.connection, address, {
    commitment: 'confirmed',
    minContextSlot: slot,
  });
  return job?.status ?? null;
}

async function eventsOf(outcome: SendResult) {
  const executed = await ledger.connection.getTransaction(String(outcome.signature), {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  });
  if (executed === null) throw new Error('The ledger does not have the transaction');
  return decodeEvents(executed);
}

describe('a job on the ledger', () => {
  it('is locked, and its events and accounts can be read', async () => {
    const job = newJob();
    const outcome = await send([job.lock]);
    expect(outcome.status).toBe('landed');
    const [event, ...others] = await eventsOf(outcome);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      name: 'JobLocked',
      instructionIndex: 0,
      data: { job: job.address, modelId: service.model.id, lockedCredits: LOCK_CREDITS },
    });
    const { connection } = ledger;
    expect(await statusOf(job, outcome.slot)).toBe('pending');
    const account = await fetchCreditAccount(connection, service.creditAccount);
    expect(account?.wallet).toEqual(service.wallet.publicKey);
    expect(account?.lockedCredits).toBe(LOCK_CREDITS);
    const model = await fetchModel(connection, addresses.model(service.model.id));
    expect(model && modelText(model).id).toBe(service.model.id);
    const worker = await fetchWorker(connection, service.worker);
    expect(worker && workerModels(worker)).toEqual([addresses.model(service.model.id)]);
    const jobs = await fetchAllJobs(connection);
    expect(jobs.map(({ address }) => address)).toEqual([job.address]);
    expect(await fetchJob(connection, Keypair.generate().publicKey)).toBeNull();
  });

  it('is acknowledged, proven and settled in one transaction', async () => {
    const job = newJob();
    await send([job.lock]);
    const settlement = await settlementOf();
    const outcome = await send([
      acknowledge(job),
      jobProve(proofOf(job)),
      jobSettle({ ...settlement, job: job.address, deliveredHash: OUTPUT_HASH }),
    ]);
    expect(outcome.status).toBe('landed');
    const events = await eventsOf(outcome);
    expect(events.map(({ name, instructionIndex }) => [name, instructionIndex])).toEqual([
      ['JobAcknowledged', 0],
      ['JobProven', 1],
      ['JobSettled', 2],
    ]);
    expect(await statusOf(job)).toBe('settled');
  });

  it('is completed by one instruction, whose event has all of it', async () => {
    const job = newJob();
    await send([job.lock]);
    const settlement = await settlementOf();
    const proof = proofOf(job);
    const forged = { ...proof, requestCommitment: OUTPUT_HASH };
    expect(await send([jobComplete({ ...settlement, ...forged })])).toMatchObject({
      error: { name: 'SignatureInvalid' },
    });
    const outcome = await send([jobComplete({ ...settlement, ...proof })]);
    expect(outcome.status).toBe('landed');
    const { signature: _, outputHash, requestCommitment, ...others } = proof;
    const events = await eventsOf(outcome);
    expect(events).toMatchObject([
      {
        name: 'JobCompleted',
        data: {
          ...others,
          outputHash: Uint8Array.from(outputHash),
          requestCommitment,
          jobSequence: 2,
          proofKey: service.proofKey.publicKey,
          settledBy: service.hotSigner.publicKey,
          countedTokens: 599,
          chargedCredits: 3n,
        },
      },
    ]);
    expect(await statusOf(job)).toBe('settled');
  });

  it('is refused by name, with the index of the refused instruction', async () => {
    const job = newJob({ maxCredits: LOCK_CREDITS - 1n });
    expect(await send([newJob().lock, job.lock])).toMatchObject({
      status: 'failed',
      signature: null,
      error: { name: 'PriceChanged', code: 6_020, instructionIndex: 1 },
    });
    expect(await statusOf(job)).toBeNull();
  });

  it('does not fail other locks of its batch', async () => {
    const { hotSigner } = service;
    const batcher = createBatcher({ sender, lingerMs: 1_000 });
    const jobs = [newJob(), newJob({ maxCredits: 1n }), newJob()];
    const outcomes = await Promise.all(
      jobs.map(({ lock }, index) =>
        batcher.add({
          ...{ instructions: [lock], costs: [COSTS.job_lock] },
          ...{ signers: [hotSigner], key: `wallet ${index}` },
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['landed', 'failed', 'landed']);
    expect(outcomes[1]).toMatchObject({ error: { name: 'PriceChanged', instructionIndex: 0 } });
    expect(outcomes[0]?.signature).toBe(outcomes[2]?.signature);
    batcher.close();
  });

  it('is refunded once the ledger’s clock allows it', async () => {
    const job = newJob();
    await send([job.lock]);
    const refund = jobRefund({ job: job.address, creditAccount: service.creditAccount });
    expect(await send([refund])).toMatchObject({ error: { name: 'DeadlineNotReached' } });
    const deadline = clock.nowSeconds() + 122n;
    await advanceSeconds(ledger.connection, 122);
    await clock.waitUntil(deadline);
    expect((await send([refund])).status).toBe('landed');
    expect(await statusOf(job)).toBe('refunded');
  });
});
