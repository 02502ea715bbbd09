import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createKey, listKeys, revokeKey } from '../../api/account/keys.ts';
import { reinstateWallet } from '../../api/account/suspensions.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import {
  creditWithdraw,
  jobFail,
  jobLock,
  jobProve,
  limitSet,
} from '../../programs/client/instructions.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { proofMessage, signHashed } from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { registerWorker } from '../../stack/participants.ts';
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
import { openTokens, readTokenAccount } from '../../testing/ledger/tokens.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilEnded,
  untilLocked,
} from '../../testing/ledger/walletBooks.ts';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import {
  type MisbehavingWorker,
  startMisbehavingWorker,
} from '../../testing/workers/misbehavingWorker.ts';
import { postSigned } from '../../testing/workers/signedRequest.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';
import type { Terms } from '../../worker/ledger/terms.ts';
import { readAnswer } from '../worker/events.ts';

const CREDITS = 100n;
/** What a request costs. */
const CHARGE = 8n;
/** How many requests a wallet may leave within an hour. */
const UNPAID_ENDINGS_MAX = 2;

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({
    indexerSettings: { SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: String(UNPAID_ENDINGS_MAX) },
    indexerLimits: { abuseIntervalMs: 100 },
  });
  own = await service.addWallet(10_000n);
  await registerWorker(service.operator, {
    ...{ authority: workerKeys.authority, proofKey: workerKeys.proofKey.publicKey },
    // The gateway finds nothing there, and asks only those of the service.
    ...{ endpoint: 'http://127.0.0.1:9', modelIds: [service.model.id] },
    ...{ stakeTokens: 1_000n, mints: service.mints },
  });
});

afterAll(() => service?.close());

const creditAccountOf = createAddresses().creditAccount;
const firstWorker = (): TestWorker => service.workers[0] as TestWorker;

// The most that a writer of the database, without other rights, can do with others' money.
describe('an operator of the database', () => {
  const LIMITS = { limitPerJobCredits: CHARGE, limitPerDayCredits: 3n * CHARGE };
  /** The worker's share of a request. */
  const WORKER_BASE_UNITS = 68_000n;

  /** The mirror's balance of a wallet, as somebody wrote it. */
  const writeBalance = (wallet: PublicKey, credits: bigint) =>
    service.pool.query(
      'update mirror.credit_accounts set available_credits = $2 where wallet = $1',
      [wallet.toBase58(), credits],
    );

  /** A new token account of somebody's. */
  function openTokensOf(owner: PublicKey): Promise<PublicKey> {
    return openTokens(service.operator, { owner, like: firstWorker().payout });
  }

  it('spends by an inserted key only the wallet’s limit: 24 credits a day', async () => {
    const { address, keypair } = await service.addWallet(CREDITS);
    await submit(service.operator, [limitSet({ wallet: address, ...LIMITS })], [keypair]);
    await revokeKey(service.pool, address.toBase58());
    const apiKey = await createKey(service.pool, address.toBase58());
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1) {
      const { status } = await requestCompletion(service, { form: 'plain', apiKey });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 200, 403, 403]);
    expect(await readBooks(service, address)).toMatchObject({
      available: CREDITS - LIMITS.limitPerDayCredits,
      locked: 0n,
    });
  });

  it('gives a wallet no credit: 1,000,000 in the mirror buy nothing', async () => {
    const { address, apiKey } = await service.addWallet(CHARGE - 1n);
    await writeBalance(address, 1_000_000n);
    const { status, error } = await requestCompletion(service, { form: 'plain', apiKey });
    expect([status, error?.code]).toEqual([402, 'insufficient_credits']);
    expect(await readBooks(service, address)).toEqual({
      available: CHARGE - 1n,
      locked: 0n,
      jobs: [],
    });
  });

  it('takes no credit from a wallet: with 0 in the mirror it withdraws all 100', async () => {
    const { address, keypair } = await service.addWallet(CREDITS);
    await writeBalance(address, 0n);
    const destination = await openTokensOf(address);
    const withdrawal = creditWithdraw({ wallet: address, destination, credits: CREDITS });
    await submit(service.operator, [withdrawal], [keypair]);
    expect(await service.account(address)).toMatchObject({ availableCredits: 0n });
    const { amount } = await readTokenAccount(service.ledger.connection, destination);
    expect(amount).toBe(CREDITS * 10_000n);
  });

  it('pays no worker’s share elsewhere by another payout in the mirror', async () => {
    const { apiKey } = await service.addWallet(CREDITS);
    const { address: worker, payout } = firstWorker();
    const stolen = await openTokensOf(Keypair.generate().publicKey);
    const { connection } = service.ledger;
    const paidBefore = (await readTokenAccount(connection, payout)).amount;
    await service.pool.query('update mirror.workers set payout = $2 where address = $1', [
      worker,
      stolen.toBase58(),
    ]);
    // An API that starts now has read it.
    const { url: baseUrl } = await service.startInstance();
    const { status } = await requestCompletion({ ...service, baseUrl }, { form: 'plain', apiKey });
    expect(status).toBe(200);
    const paid = (await readTokenAccount(connection, payout)).amount - paidBefore;
    expect(paid).toBe(WORKER_BASE_UNITS);
    expect((await readTokenAccount(connection, stolen)).amount).toBe(0n);
    await service.expectConserved();
  });
});

describe('a wallet that disconnects from its requests again and again', () => {
  const LEFT = UNPAID_ENDINGS_MAX + 1;

  beforeAll(() => firstWorker().setMode('endless'));
  afterAll(() => firstWorker().setMode('honest'));

  it('has its key suspended, is forgiven, and is suspended again [failures.abuse]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const other = await service.addWallet(CREDITS);
    const wallet = address.toBase58();
    const keyOf = async () => (await listKeys(service.pool)).find((key) => key.wallet === wallet);
    const leaveRequests = async (earlier: number) => {
      const leaving = new AbortController();
      const body = {
        model: service.model.id,
        messages: [{ role: 'user' as const, content: 'Hi' }],
      };
      const client = service.openai({ apiKey });
      const asking = Array.from({ length: LEFT }, () =>
        client.chat.completions.create(body, { signal: leaving.signal }),
      );
      const left = Promise.allSettled(asking);
      await untilLocked(service, address, earlier + LEFT);
      leaving.abort();
      await left;
      const { jobs, available } = await untilEnded(service, address, earlier + LEFT);
      const gone = { status: 'failed', reason: 'client_gone', charged: 0n };
      expect([jobs.slice(earlier), available]).toEqual([Array(LEFT).fill(gone), CREDITS]);
      await until(async () => (await keyOf())?.status === 'suspended');
    };

    await leaveRequests(0);
    const suspended = { suspended_by: 'indexer', suspension_reason: `unpaid_endings (${LEFT})` };
    expect(await keyOf()).toMatchObject(suspended);
    for (const form of FORMS) {
      expect(await requestCompletion(service, { form, apiKey })).toMatchObject({
        status: 403,
        error: {
          ...{ code: 'key_suspended', type: 'permission_error' },
          message: expect.stringContaining(
            'suspended: too many requests were left, or kept without text',
          ),
        },
      });
    }
    expect(await service.get('/v1/account', other.apiKey)).toMatchObject({
      wallet: other.address.toBase58(),
    });

    await reinstateWallet(service.pool, wallet);
    expect(await service.get('/v1/account', apiKey)).toMatchObject({ wallet });
    // What was locked in the second of the judgement is forgiven, too.
    await service.advanceSeconds(2);
    await leaveRequests(LEFT);
    // Not those of before.
    expect(await keyOf()).toMatchObject(suspended);
  });
});

/** A wallet that locks for itself, and the keys of a worker that it may ask. */
let own: Awaited<ReturnType<RunningService['addWallet']>>;
const workerKeys = { authority: Keypair.generate(), proofKey: Keypair.generate() };
const engine = createScriptedEngine();
const TOKEN_LIMIT = 2_000;

/** A job that the wallet locked with its own signature, so that it is the job's controller. */
async function lockAsWallet(): Promise<{ bytes: Uint8Array; address: PublicKey }> {
  const { model, operator } = service;
  const job = createJobId({ nowMs: Date.now(), creditAccount: creditAccountOf(own.address) });
  const lock = jobLock({
    payer: operator.authority.publicKey,
    signer: own.address,
    wallet: own.address,
    modelId: model.id,
    jobId: job.bytes,
    tokenLimit: TOKEN_LIMIT,
    maxCredits: CHARGE,
  });
  await submit(operator, [lock], [own.keypair]);
  return job;
}

type OwnJob = Awaited<ReturnType<typeof lockAsWallet>>;

/** Asks a worker directly, signed by the wallet. */
function ask(worker: MisbehavingWorker, job: OwnJob, attempt = 1): Promise<Response> {
  return postSigned({
    ...{ url: worker.url, kind: 'job', worker: worker.address, job: job.address },
    signer: own.keypair,
    content: {
      job_id: formatJobId(job.bytes),
      job_address: job.address.toBase58(),
      program_id: PROGRAM_ID.toBase58(),
      worker_address: worker.address.toBase58(),
      attempt,
      token_limit: TOKEN_LIMIT,
      request_salt: '00'.repeat(32),
      chat: { model: service.model.id, messages: [{ role: 'user', content: 'Say hello.' }] },
    },
  });
}

/** Takes the credits back. */
async function fail({ address }: OwnJob): Promise<void> {
  const instruction = jobFail({
    ...{ signer: own.address, job: address, creditAccount: creditAccountOf(own.address) },
    ...{ reason: 'worker_error', deliveredHash: new Uint8Array(32), countedTokens: 0 },
  });
  await submit(service.operator, [instruction], [own.keypair]);
}

async function outcomeOf(response: Response): Promise<string> {
  if (!response.ok) return ((await response.json()) as { error: { code: string } }).error.code;
  const { proof, error } = await readAnswer(response);
  return proof === undefined ? (error?.code ?? 'unproven') : 'proven';
}

async function startWorker(gateways: Terms['gateways']): Promise<MisbehavingWorker> {
  const worker = await startMisbehavingWorker({
    ...{ mode: 'honest', engine, rpc: service.ledger.rpc, capacity: 128 },
    ...{ authority: workerKeys.authority.publicKey, proofKey: workerKeys.proofKey },
    terms: { gateways, shareMinBasisPoints: 8_500 },
  });
  await fetch(`${worker.url}/health`);
  return worker;
}

describe('a wallet that locks with its own signature and asks a worker itself', () => {
  it('gets no answer in forty tries where its gateway is served', async () => {
    const worker = await startWorker([publicKeyOf(service.apiEnvironment.SVC_GATEWAY as string)]);
    const before = await service.account(own.address);
    const outcomes: string[] = [];
    for (let tries = 0; tries < 40; tries += 1) {
      const job = await lockAsWallet();
      outcomes.push(await outcomeOf(await ask(worker, job)));
      await fail(job);
    }
    expect(outcomes).toEqual(Array(40).fill('gateway_not_served'));
    expect((await service.account(own.address)).availableCredits).toBe(before.availableCredits);
    await worker.close();
  });
});

describe('a worker that serves any controller', () => {
  const ATTEMPTS_MAX = 255;
  let worker: MisbehavingWorker;

  beforeAll(async () => {
    worker = await startWorker('any');
  });

  afterAll(() => worker.close());

  it('answers a job once, whichever attempts follow', async () => {
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

  it('gives one job one place, so 255 attempts of it leave room for another', async () => {
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

describe('a worker that proves garbage on the ledger and leaves', () => {
  /** Proves any text for the job, as a worker can once it is acknowledged, and ends the stream. */
  async function sabotage(
    thief: TestWorker,
    { address: job, data }: Awaited<ReturnType<RunningService['jobs']>>[0],
  ): Promise<void> {
    const worker = publicKeyOf(thief.address);
    const output = {
      outputHash: new Uint8Array(32).fill(7),
      promptTokens: 1,
      completionTokens: 2_000,
      requestCommitment: REQUEST,
    };
    const message = proofMessage({
      programId: PROGRAM_ID,
      job,
      worker,
      attempt: data.attempt,
      ...output,
    });
    const signature = signHashed(message, thief.proofKeypair);
    await submit(service.operator, [jobProve({ job, worker, ...output, signature })]);
    thief.drop();
  }

  it('keeps no job from a sound worker, which is paid and not punished', async () => {
    const workers = [firstWorker(), await service.addWorker('never_answers')];
    firstWorker().setMode('never_answers');
    await service.untilShown(
      async () => (await service.get(`/v1/models/${service.model.id}`)).svc.active_workers === 2,
    );
    const { address, apiKey } = await service.addWallet(CREDITS);
    const complete = (content: string) =>
      service.openai({ apiKey }).chat.completions.create({
        ...{ model: service.model.id, messages: [{ role: 'user', content }] },
      });
    const asking = complete('Hello.');
    await untilDispatched(service, address, 1);
    const [job] = ofWallet(await service.jobs(), address);
    if (!job) throw new Error('no job runs');
    // A worker that failed once gets no job for 2 s, and here for as long as the test takes.
    service.time.hold();
    const isThief = (worker: TestWorker) => worker.address === job.data.worker.toBase58();
    const thief = workers.find(isThief) as TestWorker;
    const sound = workers.find((worker) => !isThief(worker)) as TestWorker;
    sound.setMode('honest');
    const askedBefore = [sound.jobsAsked(), thief.jobsAsked()] as const;
    await sabotage(thief, job);

    const answer = await asking;
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    await untilEnded(service, address, 1);
    const [settled] = ofWallet(await service.jobs(), address);
    expect(settled?.data.worker.toBase58()).toBe(sound.address);
    expect(settled?.data).toMatchObject({ status: 'settled', attempt: 2 });
    await service.expectConserved();

    // The sound worker is asked first from now on.
    for (let round = 0; round < 3; round += 1) await complete(`Hello again, ${round}.`);
    expect([sound.jobsAsked(), thief.jobsAsked()]).toEqual([askedBefore[0] + 4, askedBefore[1]]);
    service.time.release();
  });
});
