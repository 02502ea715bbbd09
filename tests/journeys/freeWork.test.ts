import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { jobFail, jobLock } from '../../programs/client/instructions.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { submit } from '../../stack/operator.ts';
import {
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import {
  type MisbehavingWorker,
  startMisbehavingWorker,
} from '../../testing/workers/misbehavingWorker.ts';
import { postSigned } from '../../testing/workers/signedRequest.ts';
import type { Terms } from '../../worker/ledger/terms.ts';
import { readAnswer } from '../worker/events.ts';

const JOBS = 40;
const LOCK_CREDITS = 8n;
const TOKEN_LIMIT = 2_000;
const CAPACITY = 128;
const ATTEMPTS_MAX = 255;

let ledger: TestLedger;
let service: Service;
beforeAll(async () => {
  ledger = await startLedger();
  service = await openService(ledger);
});
afterAll(() => ledger.close());

/** A job that the wallet locked with its own signature, so that it is the job's controller. */
async function lockAsWallet(): Promise<{ bytes: Uint8Array; address: PublicKey }> {
  const { wallet, creditAccount, model, operator } = service;
  const job = createJobId({ nowMs: Date.now(), creditAccount });
  const lock = jobLock({
    payer: operator.authority.publicKey,
    signer: wallet.publicKey,
    wallet: wallet.publicKey,
    modelId: model.id,
    jobId: job.bytes,
    tokenLimit: TOKEN_LIMIT,
    maxCredits: LOCK_CREDITS,
  });
  await submit(operator, [lock], [wallet]);
  return job;
}

type OwnJob = Awaited<ReturnType<typeof lockAsWallet>>;

/** Asks a worker directly, signed by the wallet. */
function ask(worker: MisbehavingWorker, job: OwnJob, attempt = 1): Promise<Response> {
  const { wallet, model } = service;
  return postSigned({
    ...{ url: worker.url, kind: 'job', worker: worker.address, job: job.address, signer: wallet },
    content: {
      job_id: formatJobId(job.bytes),
      job_address: job.address.toBase58(),
      program_id: PROGRAM_ID.toBase58(),
      worker_address: worker.address.toBase58(),
      attempt,
      token_limit: TOKEN_LIMIT,
      chat: { model: model.id, messages: [{ role: 'user', content: 'Say hello.' }] },
    },
  });
}

/** Takes the credits back. */
async function fail({ address }: OwnJob): Promise<void> {
  const { wallet, creditAccount, operator } = service;
  const instruction = jobFail({
    ...{ signer: wallet.publicKey, job: address, creditAccount, reason: 'worker_error' },
    ...{ deliveredHash: new Uint8Array(32), countedTokens: 0 },
  });
  await submit(operator, [instruction], [wallet]);
}

async function outcomeOf(response: Response): Promise<string> {
  if (!response.ok) return ((await response.json()) as { error: { code: string } }).error.code;
  const { proof, error } = await readAnswer(response);
  return proof === undefined ? (error?.code ?? 'unproven') : 'proven';
}

async function availableCredits(): Promise<bigint | undefined> {
  const account = await fetchCreditAccount(ledger.connection, service.creditAccount, {
    commitment: 'confirmed',
  });
  return account?.availableCredits;
}

const engine = createScriptedEngine();

async function startWorker(gateways: Terms['gateways']): Promise<MisbehavingWorker> {
  const worker = await startMisbehavingWorker({
    ...{ mode: 'honest', engine, rpc: ledger.rpc, capacity: CAPACITY },
    authority: service.workerAuthority.publicKey,
    proofKey: service.proofKey,
    terms: { gateways, shareMinBasisPoints: 8_500 },
  });
  await fetch(`${worker.url}/health`);
  return worker;
}

describe('a wallet that locks with its own signature and asks a worker itself', () => {
  it('gets no answer in forty tries where its gateway is served', async () => {
    const worker = await startWorker([service.gateway]);
    const before = await availableCredits();
    const outcomes: string[] = [];
    for (let count = 0; count < JOBS; count += 1) {
      const job = await lockAsWallet();
      outcomes.push(await outcomeOf(await ask(worker, job)));
      await fail(job);
    }
    expect(outcomes).toEqual(Array(JOBS).fill('gateway_not_served'));
    expect(await availableCredits()).toBe(before);
    await worker.close();
  });
});

describe('a worker that serves any controller', () => {
  let worker: MisbehavingWorker;
  beforeAll(async () => {
    worker = await startWorker('any');
  });
  afterAll(() => worker.close());
  beforeEach(() => {
    engine.play(async function* () {
      yield 'Hello.';
    });
  });

  it('answers a job once, whatever attempts follow', async () => {
    const job = await lockAsWallet();
    const outcomes: string[] = [];
    for (const attempt of [1, 2, 3, ATTEMPTS_MAX]) {
      outcomes.push(await outcomeOf(await ask(worker, job, attempt)));
    }
    expect(outcomes).toEqual(['proven', ...Array(3).fill('attempt_already_used')]);
    await fail(job);
  });

  it('takes another attempt of a job after one without output', async () => {
    engine.play(async function* () {
      yield* [];
    });
    const job = await lockAsWallet();
    expect(await outcomeOf(await ask(worker, job, 1))).toBe('empty_output');
    expect(await outcomeOf(await ask(worker, job, 2))).toBe('empty_output');
    engine.play(async function* () {
      yield 'Hello.';
    });
    expect(await outcomeOf(await ask(worker, job, 3))).toBe('proven');
    expect(await outcomeOf(await ask(worker, job, 4))).toBe('attempt_already_used');
    await fail(job);
  });

  it('gives one job one place at most, so that 255 attempts of it leave room for another', async () => {
    const held = Promise.withResolvers<void>();
    let started = 0;
    engine.play(async function* () {
      started += 1;
      await held.promise;
      yield 'Hello.';
    });
    const job = await lockAsWallet();
    const asking = Array.from({ length: ATTEMPTS_MAX }, (_, index) => ask(worker, job, index + 1));
    const outcomes = Promise.all(asking.map(async (response) => outcomeOf(await response)));
    const other = await lockAsWallet();
    const asked = ask(worker, other);
    await until(async () => started === 2);
    held.resolve();
    expect(await outcomeOf(await asked)).toBe('proven');
    const counts = Map.groupBy(await outcomes, (outcome) => outcome);
    expect(counts.get('proven')).toHaveLength(1);
    expect(counts.get('attempt_already_used')).toHaveLength(ATTEMPTS_MAX - 1);
    await fail(job);
    await fail(other);
  });
});
