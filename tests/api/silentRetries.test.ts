import { randomBytes } from 'node:crypto';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import type { Claim } from '../../api/jobs/claim.ts';
import { createIdempotency, type Idempotency } from '../../api/jobs/idempotency.ts';
import type { RepeatServices } from '../../api/jobs/repeats.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import type { LookedUpStatus } from '../../api/ledger/jobLookup.ts';
import { createLogger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { KEPT_COPY } from './keptCopy.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

// Requests of one wallet with the same body: samples, of which one may be the repeat of another.

const NOW_MS = 1_800_000_000_000;
const identify = createRequestIdentification(randomBytes(32));
let keyed: KeyedDatabase;
let pool: pg.Pool;
let statuses: Map<string, LookedUpStatus>;
/** Two API processes on one database. */
let processes: [Idempotency, Idempotency];
/** All that a test has started. */
const started: Idempotency[] = [];

beforeAll(async () => {
  keyed = await openKeyedDatabase();
  pool = keyed.pool;
});

afterAll(() => keyed.close());

beforeEach(async () => {
  statuses = new Map();
  await pool.query('truncate service.idempotent_requests, service.answer_copies');
  processes = [start(), start()];
});

afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
  jest.useRealTimers();
});

function start(parts: Partial<RepeatServices> = {}): Idempotency {
  const one = createIdempotency({
    database: pool,
    findStatus: async ({ jobId }) => statuses.get(jobId),
    failOrphan: async () => 'failed',
    nowMs: () => NOW_MS,
    logger: createLogger({ name: 'test', level: 'silent' }),
    ...parts,
  });
  started.push(one);
  return one;
}

const textOf = (jobId: string) => `the answer of ${jobId}`;

async function claimAt(at: Idempotency, retryCount?: string) {
  const { bytes } = createJobId({ nowMs: NOW_MS, creditAccount: Keypair.generate().publicKey });
  const jobId = formatJobId(bytes);
  const named = { wallet: 'a wallet', apiKey: keyed.apiKey, rawBody: Buffer.from('{}') };
  const request = identify({ ...named, idempotencyKey: undefined, retryCount });
  return { jobId, claim: await at.claim(request, jobId) };
}

/** What became of a response, once it is written. */
async function conclude(at: Idempotency, claim: Claim, how: 'delivered' | 'lost'): Promise<void> {
  claim[how]();
  await at.close();
}

/** A sample at one of the processes whose job has ended so; its response is still on its way. */
async function sample(status: LookedUpStatus, at = 0) {
  const process = start();
  processes[at] = process;
  const { jobId, claim } = await claimAt(process);
  if (claim.status !== 'new') throw new Error('the sample was taken for a repeat');
  await claim.store({ ...KEPT_COPY, text: textOf(jobId) });
  claim.end();
  statuses.set(jobId, status);
  return { jobId, end: (how: 'delivered' | 'lost') => conclude(process, claim, how) };
}

/** What a repeat gets: the job whose answer is given again, its own, or the reason of its refusal. */
async function repeat(at: Idempotency = processes[1], retryCount = '1') {
  const { jobId, claim } = await claimAt(at, retryCount);
  return {
    claim,
    got: claim.status === 'replay' ? claim.jobId : 'its own',
    text: claim.status === 'replay' ? claim.copy.text : textOf(jobId),
    jobId,
  };
}

const refused = { code: 'idempotency_key_in_use' };

describe('a counted repeat without an Idempotency-Key', () => {
  it('never gets the answer of a twin that was delivered [idempotency.twins]', async () => {
    const twins = [await sample('settled'), await sample('settled', 1), await sample('settled')];
    for (const twin of twins) await twin.end('delivered');
    expect(await repeat()).toMatchObject({ got: 'its own' });
  });

  it('gets the one answer of its twins that was lost, wherever it ran [idempotency.twins]', async () => {
    const twins = [await sample('settled'), await sample('settled', 1), await sample('settled')];
    await twins[0]?.end('delivered');
    await twins[1]?.end('lost');
    await twins[2]?.end('delivered');
    const { jobId } = twins[1] as (typeof twins)[1];
    expect(await repeat(processes[0])).toMatchObject({ got: jobId, text: textOf(jobId) });
  });

  it('gets the answer of a twin whose process died before it was delivered', async () => {
    const { jobId } = await sample('settled');
    await pool.query('update service.idempotent_requests set lease_expires_at = now()');
    expect(await repeat()).toMatchObject({ got: jobId });
  });

  it('shares no lost answer with another repeat, though both come at once', async () => {
    const twins = await Promise.all(
      Array.from({ length: 8 }, (_, at) => sample('settled', at % 2)),
    );
    for (const twin of twins) await twin.end('lost');
    processes = [start(), start()];
    const repeats = await Promise.all(twins.map((_, at) => repeat(processes[at % 2])));
    const given = repeats.map(({ got }) => got);
    expect(given.sort()).toEqual(twins.map(({ jobId }) => jobId).sort());
  });

  it('is in use while a twin is answered, since that answer may be lost yet', async () => {
    const { end, jobId } = await sample('settled');
    await expect(repeat()).rejects.toMatchObject({
      ...refused,
      options: { details: { job_id: jobId } },
    });
    await end('delivered');
    expect(await repeat()).toMatchObject({ got: 'its own' });
  });

  it('is in use while another repeat gets the same answer, and free afterwards', async () => {
    const { end, jobId } = await sample('settled');
    await end('lost');
    const first = await repeat(processes[1]);
    expect(first).toMatchObject({ got: jobId });
    await expect(repeat(start(), '2')).rejects.toMatchObject(refused);

    await conclude(processes[1], first.claim, 'lost');
    processes[1] = start();
    const second = await repeat(processes[1], '2');
    expect(second).toMatchObject({ got: jobId });
    await conclude(processes[1], second.claim, 'delivered');
    expect(await repeat(start(), '3')).toMatchObject({ got: 'its own' });
  });

  it('runs in place of a twin that failed, while others are answered', async () => {
    const failed = await sample('failed');
    await failed.end('lost');
    await sample('processing', 1);
    const { claim } = await repeat(start());
    expect(claim).toMatchObject({ status: 'new' });
    const { rows } = await pool.query('select job_id from service.idempotent_requests');
    expect(rows).toHaveLength(2);
  });

  it('prefers a lost answer that was charged to a failure', async () => {
    const charged = await sample('settled');
    await charged.end('lost');
    const failed = await sample('failed');
    await failed.end('lost');
    expect(await repeat()).toMatchObject({ got: charged.jobId });
  });

  it('is decided by the twin’s newest state, not by what was read before', async () => {
    const { end, jobId } = await sample('settled');
    await end('lost');
    const other = start();
    let taken: string | undefined;
    const slow = start({
      async findStatus() {
        taken ??= (await repeat(other)).got;
        return 'settled';
      },
    });
    await expect(repeat(slow)).rejects.toMatchObject(refused);
    expect(taken).toBe(jobId);
  });

  it('waits for the job of a lost answer that still runs', async () => {
    const { end, jobId } = await sample('processing');
    await end('lost');
    await expect(repeat()).rejects.toMatchObject({
      ...refused,
      options: { details: { job_id: jobId } },
    });
    statuses.set(jobId, 'settled');
    expect(await repeat()).toMatchObject({ got: jobId });
  });
});

describe('a delivery that the database does not take', () => {
  it('is written once it does, so that no repeat gets that answer', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    let isAway = false;
    const written = Promise.withResolvers<void>();
    const query = async (statement: pg.QueryConfig) => {
      if (statement.name !== 'expire_requests') return pool.query(statement);
      if (isAway) throw new Error('connect ECONNREFUSED');
      const result = await pool.query(statement);
      written.resolve();
      return result;
    };
    const at = start({ database: { query } as unknown as Database });
    const { jobId, claim } = await claimAt(at);
    statuses.set(jobId, 'settled');
    isAway = true;
    claim.delivered();
    await jest.advanceTimersByTimeAsync(4_000);
    isAway = false;
    await jest.advanceTimersByTimeAsync(1_000);
    await written.promise;
    expect(await repeat()).toMatchObject({ got: 'its own' });
  });
});
