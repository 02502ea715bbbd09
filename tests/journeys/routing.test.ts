import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { fetchConfig, isEnded } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import {
  stakeUnlock,
  workerDeregister,
  workerSuspend,
  workerUnhost,
} from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { registerWorker } from '../../stack/participants.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { sample, untilSampled } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import {
  FULL_SECONDS,
  type MisbehavingWorker,
  startMisbehavingWorker,
  type WorkerMode,
} from '../../testing/workers/misbehavingWorker.ts';

const addresses = createAddresses();
const messages = [{ role: 'user' as const, content: 'Say hello.' }];
/** Completions of both forms, and whether they stream. */
const FORMS: [string, boolean][] = [
  ['plain', false],
  ['stream', true],
];

let service: RunningService;
const workers: RoutedWorker[] = [];

interface RoutedWorker extends MisbehavingWorker {
  authority: Keypair;
}

beforeAll(async () => {
  service = await startRunningService({
    workers: [],
    apiSettings: { METRICS_PORT: '0' },
  });
});

afterAll(() => service.close());

afterEach(async () => {
  service.time.release();
  for (const { authority, close } of workers.splice(0)) {
    await submit(
      service.operator,
      [workerDeregister({ authority: authority.publicKey })],
      [authority],
    );
    await close();
  }
  await untilActive(0);
});

/** Workers of the model, each with a history of its own, that the service has found. */
async function openPool(...modes: WorkerMode[]): Promise<RoutedWorker[]> {
  for (const mode of modes) workers.push(await addWorker(mode));
  await untilActive(workers.length);
  return workers;
}

async function addWorker(mode: WorkerMode, capacity?: number): Promise<RoutedWorker> {
  const { operator, model, ledger } = service;
  const authority = Keypair.generate();
  const proofKey = Keypair.generate();
  const config = await fetchConfig(ledger.connection, addresses.config);
  if (!config) throw new Error('the program has no config');
  const worker = await startMisbehavingWorker({
    ...{ mode, proofKey, authority: authority.publicKey, rpc: ledger.rpc },
    ...(capacity !== undefined && { capacity }),
  });
  await registerWorker(operator, {
    authority,
    proofKey: proofKey.publicKey,
    endpoint: worker.url,
    modelIds: [model.id],
    stakeTokens: 1_000n,
    mints: { credit: config.creditMint, stake: config.stakeMint },
  });
  return { ...worker, authority };
}

const shownModel = () => service.get(`/v1/models/${service.model.id}`);

/** The API reads workers once a second, and latencies every five: these seconds are brought. */
async function untilShown(holds: () => Promise<boolean>): Promise<void> {
  for (let seconds = 0; !(await holds()); seconds += 1) {
    if (seconds < 6) service.time.advance(1_000);
    await delay(20);
  }
}

const untilActive = (count: number) =>
  untilShown(async () => (await shownModel()).svc.active_workers === count);

/** How many of the workers were asked, and how often. */
function asked(): { workers: number; times: number } {
  const counts = workers.map(
    ({ requests }) => requests.filter(({ path }) => path === '/jobs').length,
  );
  return {
    workers: counts.filter((count) => count > 0).length,
    times: counts.reduce((sum, count) => sum + count, 0),
  };
}

const ask = ({
  stream = false,
  content = 'Say hello.',
  url = service.baseUrl,
  signal,
}: {
  stream?: boolean;
  content?: string;
  url?: string;
  signal?: AbortSignal;
} = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: {
      authorization: `Bearer ${service.apiKey}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ model: service.model.id, stream },
      messages: [{ role: 'user', content }],
    }),
  });

const complete = () =>
  service.openai().chat.completions.create({ model: service.model.id, messages });

/** The job that was locked last, as the ledger has it. */
async function newestJob() {
  const jobs = await service.jobs();
  const newest = jobs.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.data.jobId), Buffer.from(b.data.jobId)),
  );
  const job = newest.at(-1);
  if (!job) throw new Error('no job was locked');
  const { status, worker, attempt, chargedCredits, failureReason } = job.data;
  return { status, worker, attempt, chargedCredits, failureReason };
}

/** How often the API has counted a failure of the worker. */
async function failuresOf({ address }: RoutedWorker): Promise<number> {
  return (await sample(service, `svc_api_worker_failures_total{worker="${address}"}`)) ?? 0;
}

/** Balance and lock as before, to the credit. */
async function expectUncharged(before: { availableCredits: bigint }): Promise<void> {
  const { availableCredits, lockedCredits } = await service.account();
  expect({ availableCredits, lockedCredits }).toEqual({
    availableCredits: before.availableCredits,
    lockedCredits: 0n,
  });
  await service.expectConserved();
}

/** What an error after a lock says in its headers, held against the job's own record. */
async function expectJobHeaders(response: Response): Promise<void> {
  const jobId = response.headers.get('x-svc-job-id');
  const job = await service.get(`/v1/jobs/${jobId}`);
  expect(job.id).toBe(jobId);
  expect(response.headers.get('x-svc-tx-signature')).toBe(job.on_chain.escrow_tx);
  expect(response.headers.get('x-svc-worker')).toBeNull();
}

// First: what other tests observe would be written at any later moment.
describe('the latency that a model shows', () => {
  it('is that of their start probes first, then the median over all processes [models.median-latency]', async () => {
    const untilModelIs = (
      url: string,
      expected: { median_latency_ms: number; active_workers: number },
    ) =>
      untilShown(async () => {
        const response = await fetch(`${url}/v1/models/${service.model.id}`, {
          headers: { authorization: `Bearer ${service.apiKey}` },
        });
        const { svc } = (await response.json()) as { svc: typeof expected };
        return Object.entries(expected).every(
          ([name, value]) => svc[name as keyof typeof expected] === value,
        );
      });
    await openPool('honest', 'slow_first_token');
    await untilActive(2);
    const { svc } = await shownModel();
    expect(Number.isInteger(svc.median_latency_ms)).toBe(true);
    expect((await service.get('/v1/models')).data).toMatchObject([{ svc }]);
    const other = await service.startInstance();
    const urls = [service.baseUrl, other.url];
    for (const url of [...urls, ...urls, service.baseUrl]) await ask({ url });
    const observed = async (): Promise<number[]> => {
      const { rows } = await service.pool.query<{ first_token_ms: number }>(
        'select first_token_ms from service.worker_observations order by first_token_ms',
      );
      return rows.map(({ first_token_ms }) => first_token_ms);
    };
    await until(async () => (await observed()).length === 5);
    const [, , median_latency_ms = 0] = await observed();
    for (const url of urls) await untilModelIs(url, { median_latency_ms, active_workers: 2 });
  });
});

describe('a worker that left within the last second', () => {
  const unhost = async ({ authority }: RoutedWorker) => {
    const modelId = service.model.id;
    const leave = workerUnhost({ authority: authority.publicKey, modelId });
    await submit(service.operator, [leave], [authority]);
  };

  it.each(FORMS)(
    'has not failed: a %s request is refused for want of workers',
    async (_kind, stream) => {
      const [worker] = (await openPool('honest')) as [RoutedWorker];
      const before = await service.account();
      service.time.hold();
      await unhost(worker);
      const response = await ask({ stream });
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ error: { code: 'no_workers_available' } });
      expect(await failuresOf(worker)).toBe(0);
      await expectUncharged(before);
    },
  );

  it('hands its requests to the next one', async () => {
    const [first] = (await openPool('honest', 'honest')) as [RoutedWorker];
    service.time.hold();
    await unhost(first);
    for (let request = 0; request < 4; request += 1) {
      expect((await ask()).status).toBe(200);
    }
    expect(await failuresOf(first)).toBe(0);
  });
});

describe('a pool in which every worker fails', () => {
  it.each(FORMS)(
    'costs a %s completion nothing, after three of four are tried [failures.three-workers] [errors.job-headers]',
    async (_kind, stream) => {
      await openPool('fails', 'fails', 'fails', 'fails');
      const before = await service.account();

      const response = await ask({ stream });

      expect(response.status).toBe(500);
      expect(asked()).toEqual({ workers: 3, times: 3 });
      await expectJobHeaders(response);
      expect(await response.json()).toMatchObject({
        error: { code: 'worker_failed', details: { credits_refunded: 8 } },
      });
      expect(await newestJob()).toMatchObject({ status: 'failed', chargedCredits: 0n });
      await expectUncharged(before);
    },
  );

  it('is tried again, and serves once the first worker recovers', async () => {
    const [one, two] = await openPool('fails', 'fails');
    for (let time = 0; time < 2; time += 1) expect((await ask()).status).toBe(500);
    one?.setMode('honest');
    two?.setMode('honest');
    expect((await ask()).status).toBe(200);
  });
});

describe('a client that disconnects before the first text', () => {
  it('causes no dispatch to another worker', async () => {
    await openPool('never_answers', 'never_answers', 'never_answers');
    const leaving = new AbortController();
    const leave = expect(
      service
        .openai()
        .chat.completions.create({ model: service.model.id, messages }, { signal: leaving.signal }),
    ).rejects.toThrow();
    await until(async () => asked().times === 1);
    leaving.abort();
    await leave;
    await until(async () => (await newestJob()).status === 'failed');
    // Longer than a silent worker is waited for.
    await service.advanceSeconds(40);
    await service.untilMirrored();
    expect(asked()).toEqual({ workers: 1, times: 1 });
  });
});

describe('a failing worker among healthy ones', () => {
  it('costs no request its answer and is retried only after 2, 4, 8, … seconds', async () => {
    const [failing] = await openPool('fails', 'honest');
    const startedMs = service.time.nowMs();
    for (let time = 0; time < 12; time += 1) expect((await ask()).status).toBe(200);
    // The nth trial comes no sooner than 2 + 4 + … + 2^(n - 1) seconds after the first.
    const seconds = (service.time.nowMs() - startedMs) / 1_000;
    expect(failing?.requests.length).toBeLessThanOrEqual(Math.log2(seconds + 2));
  });
});

describe('a full worker', () => {
  it.each(FORMS)(
    'makes the next %s completion a 503 with Retry-After, without a lock',
    async (_kind, stream) => {
      const [full] = await openPool('is_full');
      const first = await ask();
      expect([first.status, first.headers.get('retry-after')]).toEqual([503, '25']);
      const [before, jobsBefore] = [await service.account(), await service.jobs()];

      const response = await service.time.advanceUntil(ask({ stream }));

      expect(response.status).toBe(503);
      const { error } = (await response.json()) as { error: { details: { retry_after: number } } };
      expect(error).toMatchObject({ code: 'no_workers_available' });
      const { retry_after } = error.details;
      expect(retry_after).toBeLessThanOrEqual(FULL_SECONDS);
      expect(retry_after).toBeGreaterThan(FULL_SECONDS / 2);
      expect(response.headers.get('retry-after')).toBe(String(retry_after));
      expect(full?.requests).toHaveLength(1);
      expect(await service.jobs()).toHaveLength(jobsBefore.length);
      await expectUncharged(before);
    },
  );
});

/** Leaves while it waits for a slot, and is no error of anybody's. */
async function leaveBeforeLock(): Promise<void> {
  const labels = 'method="POST",route="/v1/chat/completions",status="left",code="none"';
  const left = `svc_api_requests_total{${labels}}`;
  const leftBefore = (await sample(service, left)) ?? 0;
  const leaving = new AbortController();
  const asking = ask({ signal: leaving.signal });
  await untilSampled(service, 'svc_api_requests_in_flight', (count) => count === 2);
  leaving.abort();
  await expect(asking).rejects.toThrow('aborted');
  await untilSampled(service, left, (count) => count === leftBefore + 1);
}

describe('a worker with its only capacity in use', () => {
  it('gets no other job: a completion is refused in time and locks nothing', async () => {
    const worker = await addWorker('endless', 1);
    workers.push(worker);
    await untilActive(1);
    const body = { model: service.model.id, messages, max_tokens: 20_000, stream: true } as const;
    const stream = await service.openai().chat.completions.create(body);
    await service.untilDispatched(1);
    const [before, jobsBefore] = [await service.account(), await service.jobs()];
    const asking = Promise.all([ask(), ask({ stream: true })]);
    for (const response of await service.time.advanceUntil(asking)) {
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(response.headers.get('x-svc-job-id')).toBeNull();
      expect(await response.json()).toMatchObject({ error: { code: 'no_workers_available' } });
    }
    await leaveBeforeLock();
    const { availableCredits, lockedCredits } = before;
    expect(await service.account()).toMatchObject({ availableCredits, lockedCredits });
    expect(await service.jobs()).toHaveLength(jobsBefore.length);

    worker.setMode('honest');
    for await (const _chunk of stream);
    await service.untilAccount((account) => account.lockedCredits === 0n);
    expect(asked()).toEqual({ workers: 1, times: 1 });
    expect((await ask()).status).toBe(200);
  });
});

describe('a silent worker', () => {
  it.each(FORMS)(
    'is replaced after 20 s by one that answers a %s completion [failures.silent-worker-dropped]',
    async (_kind, stream) => {
      // given a job at a silent worker, when another one comes
      const [silent] = await openPool('never_answers');
      const before = await service.account();
      const asking = ask({ stream });
      await service.untilDispatched(1);
      const [, honest] = await openPool('honest');
      expect(honest?.requests).toEqual([]);
      // when it has been silent for 20 s, after which no time passes
      service.time.hold();
      service.time.advance(20_000);
      const response = await asking;
      await response.text();
      // then the other has answered, and was paid once
      expect(response.status).toBe(200);
      expect(response.headers.get('x-svc-worker')).toBe(honest?.address.toBase58());
      expect(asked()).toEqual({ workers: 2, times: 2 });
      const { availableCredits, lockedCredits } = await service.untilAccount(
        (account) => account.lockedCredits === 0n,
      );
      expect([before.availableCredits - availableCredits, lockedCredits]).toEqual([8n, 0n]);
      expect(await newestJob()).toMatchObject({
        ...{ status: 'settled', worker: honest?.address, attempt: 2, chargedCredits: 8n },
      });
      // and the next request does not go to the silent one
      await complete();
      expect(silent?.requests).toHaveLength(1);
      service.time.release();
      await service.expectConserved();
    },
  );

  it('has a second more for each 500 tokens of the prompt [failures.silent-worker-dropped]', async () => {
    const [silent] = await openPool('never_answers');
    // Some 12,000 tokens.
    const asking = ask({ content: 'word '.repeat(12_000) });
    await service.untilDispatched(1);
    const [, honest] = await openPool('honest');
    service.time.hold();
    // Up to six have passed until the other worker was found.
    service.time.advance(36_000);
    await delay(100);
    expect(honest?.requests).toEqual([]);
    service.time.advance(12_000);
    const response = await asking;
    await response.text();
    expect(response.headers.get('x-svc-worker')).toBe(honest?.address.toBase58());
    // It was silent for too long, and cools down.
    await complete();
    expect(silent?.requests).toHaveLength(1);
    service.time.release();
    await service.untilAccount((account) => account.lockedCredits === 0n);
  });

  it('is waited for when it is the only one, up to a 504 that names the job [errors.job-headers]', async () => {
    await openPool('never_answers');
    const before = await service.account();
    const asking = ask();
    await service.untilDispatched(1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const response = await asking;
    expect(response.status).toBe(504);
    await expectJobHeaders(response);
    await expectUncharged(before);
  });
});

describe('a worker that counts more tokens than the service', () => {
  it.each(FORMS)(
    'makes a %s completion a 400 that costs nothing [models.context-counted-by-worker]',
    async (_kind, stream) => {
      await openPool('counts_more', 'counts_more');
      const before = await service.account();

      const response = await ask({ stream });

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: {
          code: 'context_length_exceeded',
          param: 'messages',
          details: { credits_refunded: 8, context_window: service.model.contextWindowTokens },
        },
      });
      await expectJobHeaders(response);
      expect(await newestJob()).toMatchObject({ failureReason: 'context_length_exceeded' });
      // No other worker has a larger window.
      expect(asked()).toEqual({ workers: 1, times: 1 });
      await expectUncharged(before);
    },
  );
});

/** What takes a worker out of the choice, and who signs for it. */
const departures = {
  'unhosts the model': ({ authority }: RoutedWorker) => ({
    instruction: workerUnhost({ authority: authority.publicKey, modelId: service.model.id }),
    signer: authority,
  }),
  'takes its stake out': ({ authority }: RoutedWorker) => ({
    instruction: stakeUnlock({ authority: authority.publicKey, tokens: 1n }),
    signer: authority,
  }),
  'is suspended': ({ address }: RoutedWorker) => ({
    instruction: workerSuspend({
      arbiter: service.arbiter.publicKey,
      worker: address,
      suspended: true,
    }),
    signer: service.arbiter,
  }),
};

describe('a departing worker', () => {
  it.each(Object.entries(departures))(
    'that %s completes its job, is paid, and gets no further job',
    async (_why, depart) => {
      // given a stream in the middle of which its worker leaves
      const [leaving] = await openPool('endless');
      if (!leaving) throw new Error('the pool is empty');
      const body = { model: service.model.id, messages, max_tokens: 20_000, stream: true } as const;
      const stream = await service.openai().chat.completions.create(body);
      await service.untilDispatched(1);
      const { instruction, signer } = depart(leaving);
      await submit(service.operator, [instruction], [signer]);
      await untilActive(0);
      // when more jobs come, and there is another worker for them
      workers.push(await addWorker('honest'));
      await untilActive(1);
      await Promise.all([complete(), complete(), complete()]);
      // then the one that left has had none of them
      expect(leaving.requests.filter(({ path }) => path === '/jobs')).toHaveLength(1);
      // and its own ends as any other: proven and paid
      leaving.setMode('honest');
      const reasons: unknown[] = [];
      for await (const chunk of stream) reasons.push(chunk.choices[0]?.finish_reason);
      expect(reasons.at(-1)).toBe('stop');
      const jobs = await service.untilJobs((found) =>
        found.every(({ data }) => isEnded(data.status)),
      );
      const its = jobs.filter(({ data }) => data.worker.equals(leaving.address));
      expect(its.map(({ data }) => data.status)).toEqual(['settled']);
      await service.expectConserved();
    },
  );
});
