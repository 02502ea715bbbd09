import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  createAddresses,
  createJobId,
  decodeEvents,
  ed25519Instruction,
  fetchAllJobs,
  fetchCreditAccount,
  fetchJob,
  fetchModel,
  fetchWorker,
  JOB_STATUSES,
  jobAcknowledge,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  modelText,
  PROGRAM_ID,
  proofMessage,
  sign,
  workerModels,
} from '../../programs/client/index.ts';
import {
  createBatcher,
  createLedgerClock,
  createSender,
  type LedgerClock,
  type Outcome,
  type Sender,
} from '../../programs/client/sender/index.ts';
import { createLogger } from '../../runtime/logger.ts';
import {
  advanceSeconds,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../support/ledger.ts';

const LOCK_CREDITS = 8n;
const COMPUTE_UNITS = 60_000;
const OUTPUT_HASH = createHash('sha256').update('the whole answer').digest();
const addresses = createAddresses();

let ledger: TestLedger;
let service: Service;
let sender: Sender;
let clock: LedgerClock;

const closers: (() => void)[] = [];

beforeAll(async () => {
  ledger = await startLedger();
  closers.push(ledger.close);
  service = await openService(ledger);
  const { connection, payer } = ledger;
  sender = createSender({
    connection,
    feePayers: [payer],
    commitment: 'confirmed',
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  clock = createLedgerClock({ connection });
  closers.push(sender.close, clock.close);
  await clock.ready;
});

afterAll(() => {
  for (const close of closers.toReversed()) close();
});

interface TestJob {
  address: PublicKey;
  lock: TransactionInstruction;
}

function newJob({ maxCredits = LOCK_CREDITS } = {}): TestJob {
  const { creditAccount, gateway, hotSigner, wallet, model } = service;
  const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount });
  const lock = jobLock({
    ...{ payer: ledger.payer.publicKey, signer: hotSigner.publicKey, gateway },
    ...{ wallet: wallet.publicKey, modelId: model.id, jobId: bytes },
    ...{ tokenLimit: 2_000, maxCredits },
  });
  return { address, lock };
}

function acknowledge({ address: job }: TestJob): TransactionInstruction {
  const { gateway, hotSigner, worker } = service;
  return jobAcknowledge({ signer: hotSigner.publicKey, gateway, job, worker, attempt: 1 });
}

function prove({ address: job }: TestJob, ed25519InstructionIndex: number): TransactionInstruction {
  return jobProve({
    ...{ job, worker: service.worker, ed25519InstructionIndex },
    ...{ outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 },
  });
}

/** The proof of `job` by the worker, or another one made from it. */
function proof(
  { address: job }: TestJob,
  change: Partial<Parameters<typeof proofMessage>[0]> = {},
  signer: Keypair = service.proofKey,
) {
  const message = proofMessage({
    ...{ programId: PROGRAM_ID, job, worker: service.worker, attempt: 1 },
    ...{ outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 },
    ...change,
  });
  return { publicKey: signer.publicKey, message, signature: sign(message, signer) };
}

function send(instructions: TransactionInstruction[]): Promise<Outcome> {
  const signers = [service.hotSigner];
  return sender.send({ instructions, signers, computeUnitLimit: COMPUTE_UNITS });
}

async function acknowledgedJob(): Promise<TestJob> {
  const job = newJob();
  expect((await send([job.lock, acknowledge(job)])).status).toBe('confirmed');
  return job;
}

async function statusOf({ address }: TestJob, slot = 0) {
  const job = await fetchJob(ledger.connection, address, {
    commitment: 'confirmed',
    minContextSlot: slot,
  });
  return job && JOB_STATUSES[job.status];
}

async function eventsOf(outcome: Outcome) {
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
    expect(outcome.status).toBe('confirmed');
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
    const worker = await fetchWorker(ledger.connection, service.worker);
    const outcome = await send([
      acknowledge(job),
      ed25519Instruction(proof(job)),
      prove(job, 1),
      jobSettle({
        ...{ signer: service.hotSigner.publicKey, gateway: service.gateway },
        ...{ job: job.address, creditAccount: service.creditAccount, worker: service.worker },
        workerPayout: worker?.payout as PublicKey,
        ...{ deliveredHash: OUTPUT_HASH, countedTokens: 599 },
      }),
    ]);
    expect(outcome.status).toBe('confirmed');
    const events = await eventsOf(outcome);
    expect(events.map(({ name, instructionIndex }) => [name, instructionIndex])).toEqual([
      ['JobAcknowledged', 0],
      ['JobProven', 2],
      ['JobSettled', 3],
    ]);
    expect(await statusOf(job)).toBe('settled');
  });

  it('is refused by name, with the place of the refused instruction', async () => {
    const job = newJob({ maxCredits: LOCK_CREDITS - 1n });
    expect(await send([newJob().lock, job.lock])).toMatchObject({
      status: 'rejected',
      signature: null,
      error: { name: 'PriceChanged', code: 6_020, instructionIndex: 1 },
    });
    expect(await statusOf(job)).toBeNull();
  });

  it('does not keep other jobs of its batch from their locks', async () => {
    const { hotSigner } = service;
    const batcher = createBatcher({
      ...{ sender, maxInstructions: 6, lingerMs: 1_000, computeUnitLimitEach: COMPUTE_UNITS },
    });
    const jobs = [newJob(), newJob({ maxCredits: 1n }), newJob()];
    const outcomes = await Promise.all(
      jobs.map(({ lock }, index) =>
        batcher.add({ instructions: [lock], signers: [hotSigner], key: `wallet ${index}` }),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['confirmed', 'rejected', 'confirmed']);
    expect(outcomes[1]).toMatchObject({ error: { name: 'PriceChanged', instructionIndex: 0 } });
    expect(outcomes[0]?.signature).toBe(outcomes[2]?.signature);
    batcher.close();
  });

  it('is refunded once the ledger’s clock says so', async () => {
    const job = newJob();
    await send([job.lock]);
    const refund = jobRefund({ job: job.address, creditAccount: service.creditAccount });
    expect(await send([refund])).toMatchObject({ error: { name: 'DeadlineNotReached' } });
    const deadline = clock.nowSeconds() + 122n;
    await advanceSeconds(ledger.connection, 122);
    await clock.waitUntil(deadline);
    expect((await send([refund])).status).toBe('confirmed');
    expect(await statusOf(job)).toBe('refunded');
  });
});

describe('a proof on the ledger', () => {
  it('is refused with a forged signature', async () => {
    const job = await acknowledgedJob();
    const { signature, ...signed } = proof(job);
    for (const at of [0, 31, 32, 63]) {
      const forged = Uint8Array.from(signature);
      forged[at] = (forged[at] as number) ^ 1;
      const outcome = await send([
        ed25519Instruction({ ...signed, signature: forged }),
        prove(job, 0),
      ]);
      expect(outcome.status).toBe('rejected');
    }
    expect(await statusOf(job)).toBe('processing');
  });

  it('is refused when another key signed it', async () => {
    const job = await acknowledgedJob();
    const stranger = Keypair.generate();
    expect(await send([ed25519Instruction(proof(job, {}, stranger)), prove(job, 0)])).toMatchObject(
      { status: 'rejected', error: { name: 'ProofWrongKey', instructionIndex: 1 } },
    );
  });

  it('is refused when it says anything but this job’s proof', async () => {
    const job = await acknowledgedJob();
    const elsewhere = Keypair.generate().publicKey;
    const changes = [
      { programId: elsewhere },
      { job: elsewhere },
      { worker: elsewhere },
      { attempt: 2 },
      { outputHash: createHash('sha256').update('another answer').digest() },
      { promptTokens: 11 },
      { completionTokens: 601 },
    ];
    for (const change of changes) {
      expect(await send([ed25519Instruction(proof(job, change)), prove(job, 0)])).toMatchObject({
        status: 'rejected',
        error: { name: 'ProofWrongMessage', instructionIndex: 1 },
      });
    }
    expect(await statusOf(job)).toBe('processing');
  });

  it('is refused in any layout but the one this client writes', async () => {
    const job = await acknowledgedJob();
    const valid = ed25519Instruction(proof(job));
    const layouts = {
      'parts named by this instruction’s own index': withWords(valid.data, (word) =>
        word === 0xffff ? 0 : word,
      ),
      'the message named by this instruction’s own index': withWords(valid.data, (word, at) =>
        at === 6 ? 0 : word,
      ),
      'another padding byte': Buffer.concat([Buffer.from([1, 1]), valid.data.subarray(2)]),
      'bytes behind the message': Buffer.concat([valid.data, Buffer.from([0])]),
      'a gap before the message': shifted(valid.data),
      'a second signature': doubled(valid.data),
    };
    for (const [name, data] of Object.entries(layouts)) {
      const outcome = await send([new TransactionInstruction({ ...valid, data }), prove(job, 0)]);
      expect([name, outcome]).toMatchObject([
        name,
        { status: 'rejected', error: { name: 'ProofMalformed', instructionIndex: 1 } },
      ]);
    }
    expect(await statusOf(job)).toBe('processing');
  });

  it('is refused when the named instruction is not the precompile’s', async () => {
    const job = await acknowledgedJob();
    for (const index of [1, 2, 9, 0xffff]) {
      expect(await send([ed25519Instruction(proof(job)), prove(job, index)])).toMatchObject({
        status: 'rejected',
        error: { name: 'ProofMissing', instructionIndex: 1 },
      });
    }
  });

  it('is taken once in its right form, and again without effect', async () => {
    const job = await acknowledgedJob();
    const outcome = await send([ed25519Instruction(proof(job)), prove(job, 0)]);
    expect((await eventsOf(outcome)).map(({ name }) => name)).toEqual(['JobProven']);
    const repeated = await send([acknowledge(job), ed25519Instruction(proof(job)), prove(job, 1)]);
    expect(repeated.status).toBe('confirmed');
    expect(await eventsOf(repeated)).toEqual([]);
    expect(await statusOf(job)).toBe('settling');
  });
});

/** The header is a count, a padding byte and seven words; the parts begin behind it. */
const HEADER_BYTES = 16;
const OFFSET_WORDS = [0, 2, 4];
const MESSAGE_OFFSET_WORD = 4;
const MESSAGE_OFFSET = 112;

function withWords(data: Buffer, change: (word: number, at: number) => number): Buffer {
  const changed = Buffer.from(data);
  for (let at = 0; at < 7; at += 1) {
    changed.writeUInt16LE(change(data.readUInt16LE(2 + 2 * at), at), 2 + 2 * at);
  }
  return changed;
}

function shifted(data: Buffer): Buffer {
  const moved = withWords(data, (word, at) => word + (at === MESSAGE_OFFSET_WORD ? 1 : 0));
  const gap = Buffer.alloc(1);
  return Buffer.concat([moved.subarray(0, MESSAGE_OFFSET), gap, moved.subarray(MESSAGE_OFFSET)]);
}

function doubled(data: Buffer): Buffer {
  const added = HEADER_BYTES - 2;
  const moved = withWords(data, (word, at) => word + (OFFSET_WORDS.includes(at) ? added : 0));
  const words = moved.subarray(2, HEADER_BYTES);
  return Buffer.concat([Buffer.from([2, 0]), words, words, moved.subarray(HEADER_BYTES)]);
}
