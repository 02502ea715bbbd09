import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { workerDeregister } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import {
  ofWallet,
  readBooks,
  untilDispatched,
  untilEnded,
} from '../../testing/ledger/walletBooks.ts';
import {
  type Answer,
  type Form,
  ROUTED_FORMS,
  type Route,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import type { WorkerMode } from '../../testing/workers/misbehavingWorker.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

const CREDITS = 1_000n;

let service: RunningService;
/** Of one test. */
const workers: TestWorker[] = [];
let wallet: Awaited<ReturnType<RunningService['addWallet']>>;

beforeAll(async () => {
  service = await startRunningService({
    workers: [],
    apiSettings: { SVC_ACKNOWLEDGEMENT_LINGER_MS: '50' },
  });
});

afterAll(() => service?.close());

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterEach(async () => {
  service.time.release();
  for (const { authority, close } of workers.splice(0)) {
    const leave = workerDeregister({ authority: authority.publicKey });
    await submit(service.operator, [leave], [authority]);
    await close();
  }
  await untilActive(0);
});

/** Workers of the model, each with a history of its own, that the service has found. */
async function openPool(...modes: WorkerMode[]): Promise<TestWorker[]> {
  for (const mode of modes) workers.push(await service.addWorker(mode));
  await untilActive(workers.length);
  return workers;
}

const shownModel = async (baseUrl = service.baseUrl) => {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const response = await fetch(`${baseUrl}/v1/models/${service.model.id}`, { headers });
  return ((await response.json()) as { svc: Record<string, number> }).svc;
};

/** The API reads workers once a second, and latencies every five: these seconds are brought. */
async function untilShown(holds: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; !(await holds()); seconds += 1) {
    if (seconds < 6) service.time.advance(1_000);
    await delay(20);
  }
}

const untilActive = (count: number) =>
  untilShown(async () => (await shownModel()).active_workers === count);

/** How often each of the workers was asked. */
const asked = () => workers.map((worker) => worker.jobsAsked());

const ask = ({
  baseUrl = service.baseUrl,
  form = 'plain',
  ...asked
}: {
  form?: Form;
  route?: Route;
  body?: Record<string, unknown>;
  baseUrl?: string;
} = {}) => requestCompletion({ ...service, baseUrl }, { form, apiKey: wallet.apiKey, ...asked });

/** The wallet's only job has failed so, and nothing was charged. */
async function expectFailed(reason: string): Promise<void> {
  expect(await readBooks(service, wallet.address)).toEqual({
    ...{ available: CREDITS, locked: 0n },
    jobs: [{ status: 'failed', reason, charged: 0n }],
  });
  await service.expectConserved();
}

/** What an error after a lock says in its headers, held against the job's own record. */
async function expectJobHeaders({ headers }: Answer): Promise<void> {
  const job = await service.get(`/v1/jobs/${headers['x-svc-job-id']}`, wallet.apiKey);
  expect(job.id).toBe(headers['x-svc-job-id']);
  expect(headers['x-svc-tx-signature']).toBe(job.on_chain.escrow_tx);
  expect(headers['x-svc-worker']).toBeUndefined();
}

// First: what other tests observe would be written at any later moment.
describe('the latency that a model shows', () => {
  it('is that of their start probes first, then the median over all processes [models.median-latency]', async () => {
    await openPool('honest', 'slow_first_token');
    const svc = await shownModel();
    expect(Number.isInteger(svc.median_latency_ms)).toBe(true);
    expect((await service.get('/v1/models')).data).toMatchObject([{ svc }]);
    const other = await service.startInstance();
    const urls = [service.baseUrl, other.url];
    for (const baseUrl of [...urls, ...urls, service.baseUrl]) {
      await ask({ baseUrl });
    }
    const observed = async (): Promise<number[]> => {
      const { rows } = await service.pool.query<{ first_token_ms: number }>(
        'select first_token_ms from service.worker_observations order by first_token_ms',
      );
      return rows.map(({ first_token_ms }) => first_token_ms);
    };
    await until(async () => (await observed()).length === 5);
    const median = (await observed())[2];
    for (const url of urls) {
      await untilShown(async () => (await shownModel(url)).median_latency_ms === median);
    }
  });
});

describe.each(ROUTED_FORMS)('a %s answer of %s', (form, route) => {
  it('fails over to the next worker when the first refuses before any content [failures.failover]', async () => {
    const ROUNDS = 4;
    await openPool('refuses', 'honest');
    // The choice among two is random: whichever comes first, each request must be answered.
    for (let round = 0; round < ROUNDS; round += 1) {
      const body = { seed: round };
      expect(await ask({ form, route, body })).toMatchObject({ status: 200, error: undefined });
    }
    const { jobs } = await untilEnded(service, wallet.address, ROUNDS);
    expect(jobs.map(({ status }) => status)).toEqual(Array(ROUNDS).fill('settled'));
  });

  it('costs nothing where all workers fail, after three of four are tried [failures.three-workers] [errors.job-headers]', async () => {
    await openPool('fails', 'fails', 'fails', 'fails');
    const answer = await ask({ form, route });
    expect(answer).toMatchObject({
      status: 500,
      error: { code: 'worker_failed', details: { credits_refunded: 8 } },
    });
    expect(asked().toSorted()).toEqual([0, 1, 1, 1]);
    await expectJobHeaders(answer);
    await expectFailed('worker_error');
  });

  it('goes to another worker after 20 s of silence, which is paid once [failures.silent-worker-dropped]', async () => {
    // given a job at a silent worker, when another one comes
    await openPool('never_answers');
    const asking = ask({ form, route });
    await untilDispatched(service, wallet.address, 1);
    const [, honest] = await openPool('honest');
    expect(asked()).toEqual([1, 0]);
    // when it has been silent for 20 s, after which no time passes
    service.time.hold();
    service.time.advance(20_000);
    const { status, headers } = await asking;
    // then the other has answered, and was paid once
    expect([status, headers['x-svc-worker']]).toEqual([200, honest?.address]);
    expect(asked()).toEqual([1, 1]);
    expect(await untilEnded(service, wallet.address, 1)).toMatchObject({
      available: CREDITS - 8n,
      jobs: [{ status: 'settled', charged: 8n }],
    });
    const [job] = ofWallet(await service.jobs(), wallet.address);
    expect(job?.data).toMatchObject({ attempt: 2 });
    expect(job?.data.worker.toBase58()).toBe(honest?.address);
    // and the next request does not go to the silent one
    await ask({ body: { seed: 1 } });
    expect(asked()).toEqual([1, 2]);
    await service.expectConserved();
  });

  it('is a 400 that costs nothing where a worker counts too many tokens [models.context-counted-by-worker]', async () => {
    await openPool('counts_more', 'counts_more');
    const answer = await ask({ form, route });
    expect(answer).toMatchObject({
      status: 400,
      error: {
        code: 'context_length_exceeded',
        param: route === 'responses' ? 'input' : 'messages',
        details: { credits_refunded: 8, context_window: service.model.contextWindowTokens },
      },
    });
    await expectJobHeaders(answer);
    // No other worker has a larger window.
    expect(asked().toSorted()).toEqual([0, 1]);
    await expectFailed('context_length_exceeded');
  });
});

describe('a silent worker', () => {
  it('has a second more for each 500 tokens of the prompt [failures.silent-worker-dropped]', async () => {
    await openPool('never_answers');
    // Some 12,000 tokens.
    const messages = [{ role: 'user', content: 'word '.repeat(12_000) }];
    const asking = ask({ body: { messages } });
    await untilDispatched(service, wallet.address, 1);
    const [, honest] = await openPool('honest');
    service.time.hold();
    // Up to six have passed until the other worker was found.
    service.time.advance(36_000);
    await delay(100);
    expect(asked()).toEqual([1, 0]);
    service.time.advance(12_000);
    expect((await asking).headers['x-svc-worker']).toBe(honest?.address);
    await untilEnded(service, wallet.address, 1);
  });
});
