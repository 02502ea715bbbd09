import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { listKeys } from '../../api/account/keys.ts';
import { reinstateWallet } from '../../api/account/suspensions.ts';
import { registerWorker } from '../../stack/participants.ts';
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
import { startMisbehavingWorker } from '../../testing/workers/misbehavingWorker.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';
import { createOwnJobs } from '../faults/ownJobs.ts';
import { proveGarbage } from '../faults/sabotage.ts';
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
});

afterAll(() => service?.close());

const firstWorker = (): TestWorker => service.workers[0] as TestWorker;

// The most that a writer of the database, without other rights, can do with others' money.
describe('an operator of the database', () => {
  /** The worker's share of a request. */
  const WORKER_BASE_UNITS = 68_000n;

  it('gives a wallet no credit: 1,000,000 in the mirror buy nothing', async () => {
    const { address, apiKey } = await service.addWallet(CHARGE - 1n);
    await service.pool.query(
      'update mirror.credit_accounts set available_credits = 1000000 where wallet = $1',
      [address.toBase58()],
    );
    const { status, error } = await requestCompletion(service, { form: 'plain', apiKey });
    expect([status, error?.code]).toEqual([402, 'insufficient_credits']);
    expect(await readBooks(service, address)).toEqual({
      available: CHARGE - 1n,
      locked: 0n,
      jobs: [],
    });
  });

  it('pays no worker’s share elsewhere by another payout in the mirror', async () => {
    const { apiKey } = await service.addWallet(CREDITS);
    const { address: worker, payout } = firstWorker();
    const owner = Keypair.generate().publicKey;
    const stolen = await openTokens(service.operator, { owner, like: payout });
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

describe('a worker that serves any controller', () => {
  const ATTEMPTS_MAX = 255;

  async function outcomeOf(asked: Promise<Response>): Promise<string> {
    const response = await asked;
    if (!response.ok) return ((await response.json()) as { error: { code: string } }).error.code;
    return (await readAnswer(response)).proof === undefined ? 'unproven' : 'proven';
  }

  it('gives one job one place, so 255 attempts of it leave room for another', async () => {
    const { operator, model, mints, ledger } = service;
    const [authority, proofKey, engine] = [
      Keypair.generate(),
      Keypair.generate(),
      createScriptedEngine(),
    ];
    const worker = await startMisbehavingWorker({
      ...{ mode: 'honest', engine, rpc: ledger.rpc, capacity: 128 },
      ...{ authority: authority.publicKey, proofKey },
    });
    await registerWorker(operator, {
      ...{ authority, proofKey: proofKey.publicKey, modelIds: [model.id] },
      // The gateway finds nothing there, and asks only those of the service.
      ...{ endpoint: 'http://127.0.0.1:9', stakeTokens: 1_000n, mints },
    });
    await fetch(`${worker.url}/health`);
    const held = Promise.withResolvers<void>();
    let started = 0;
    engine.play(async function* () {
      started += 1;
      await held.promise;
      yield 'Hello.';
    });
    const { keypair } = await service.addWallet(CREDITS);
    const own = createOwnJobs(service, keypair);
    const [job, other] = [await own.lock(), await own.lock()];
    const outcomes = Promise.all(
      Array.from({ length: ATTEMPTS_MAX }, (_, index) =>
        outcomeOf(own.ask(worker, job, index + 1)),
      ),
    );
    const asked = outcomeOf(own.ask(worker, other, 1));
    await until(async () => started === 2);
    held.resolve();
    expect(await asked).toBe('proven');
    const counts = Map.groupBy(await outcomes, (outcome) => outcome);
    expect(counts.get('proven')).toHaveLength(1);
    expect(counts.get('attempt_already_used')).toHaveLength(ATTEMPTS_MAX - 1);
    await own.fail(job);
    await own.fail(other);
    await worker.close();
  });
});

describe('a worker that proves garbage on the ledger and leaves', () => {
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
    await proveGarbage(service, thief);

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
