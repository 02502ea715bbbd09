import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
import type { ApiError } from '../../api/contracts/errors.ts';
import type { NewClaim } from '../../api/jobs/claim.ts';
import { createIdempotency, type Idempotency } from '../../api/jobs/idempotency.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import { createLogger } from '../../common/logger.ts';
import { inTransaction } from '../../common/postgres.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';

const WALLET = Keypair.generate().publicKey.toBase58();
const INTERVAL_MS = 5_000;

const identify = createRequestIdentification(randomBytes(32));
let database: PooledDatabase;
let pool: pg.Pool;
let idempotency: Idempotency;
let isDatabaseAway: boolean;
let renewals: number;
/** The last one; it never rejects. */
let renewal: Promise<unknown>;

beforeAll(async () => {
  database = await openPooledDatabase();
  pool = database.pool;
});

afterAll(() => database?.close());

beforeEach(async () => {
  isDatabaseAway = false;
  renewals = 0;
  renewal = Promise.resolve();
  await pool.query('truncate service.idempotent_requests');
  // The database's own times are real: its leases are set instead.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
  idempotency = createIdempotency({
    database: { query: reachable } as typeof pool,
    findStatus: async () => 'processing',
    failOrphan: async () => 'failed',
    nowMs: Date.now,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
});

afterEach(async () => {
  await idempotency.close();
  jest.useRealTimers();
});

function reachable(query: pg.QueryConfig): Promise<pg.QueryResult> {
  if (query.name !== 'renew_leases') return pool.query(query);
  renewals += 1;
  const answered = isDatabaseAway
    ? Promise.reject(new Error('connect ECONNREFUSED'))
    : pool.query(query);
  renewal = answered.catch(() => undefined);
  return answered;
}

async function claim(): Promise<NewClaim> {
  const creditAccount = Keypair.generate().publicKey;
  const id = formatJobId(createJobId({ nowMs: Date.now(), creditAccount }).bytes);
  const rawBody = randomBytes(8);
  const request = { wallet: WALLET, apiKey: 'x', rawBody, idempotencyKey: undefined };
  const claimed = await idempotency.claim(identify({ ...request, retryCount: undefined }), id);
  if (claimed.status !== 'new') throw new Error('the request was taken for a repeat');
  return claimed;
}

/** Lets seconds pass, and each renewal that falls due end. */
async function pass(seconds: number): Promise<void> {
  for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += INTERVAL_MS) {
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    await renewal;
    // What follows the statement, and sets the next timer.
    await nextTurn();
  }
}

const setLease = (seconds: number) =>
  pool.query(
    `update service.idempotent_requests
     set lease_expires_at = now() + make_interval(secs => $1)`,
    [seconds],
  );

async function leaseSeconds(): Promise<number> {
  const { rows } = await pool.query(
    `select extract(epoch from lease_expires_at - now())::float8 as left
     from service.idempotent_requests`,
  );
  return rows[0].left;
}

/** What a repeat gets of a running job whose lease ends so many seconds later, to the microsecond. */
function repeatAt(secondsLeft: number) {
  const rawBody = randomBytes(8);
  const request = identify({
    ...{ wallet: WALLET, apiKey: 'x', rawBody, idempotencyKey: 'a-key', retryCount: undefined },
  });
  const newId = () => {
    const creditAccount = Keypair.generate().publicKey;
    return formatJobId(createJobId({ nowMs: Date.now(), creditAccount }).bytes);
  };
  // For the database, a transaction is one moment.
  return inTransaction(pool, async (client) => {
    const failOrphan = jest.fn(async () => 'failed' as const);
    const { claim: claimAt, close } = createIdempotency({
      ...{ database: client, findStatus: async () => 'processing' as const, failOrphan },
      ...{ nowMs: Date.now, logger: createLogger({ name: 'test', level: 'silent' }) },
    });
    await claimAt(request, newId());
    await client.query(
      `update service.idempotent_requests
       set lease_expires_at = now() + make_interval(secs => $1)`,
      [secondsLeft],
    );
    const answer = await claimAt(request, newId()).then(
      ({ status }) => status,
      ({ code, options }: ApiError) => [code, options.retryAfterSeconds],
    );
    await close();
    return { answer, orphansFailed: failOrphan.mock.calls.length };
  });
}

describe('requests that come together', () => {
  it('are each claimed for themselves', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, claim));
    expect(claims).toHaveLength(20);
    const { rows } = await pool.query(
      'select count(distinct job_id)::int from service.idempotent_requests',
    );
    expect(rows).toEqual([{ count: 20 }]);
  });
});

describe('a repeat of a running job', () => {
  it.each([
    // Renewed within the last ten seconds: its process lives, and its answer may come any moment.
    [30, 2],
    [21, 2],
    [20, 20],
    [1, 1],
    // A lease that no process of ours wrote.
    [31, 31],
  ])('is to come back, with %d s of its lease left, in %d s', async (secondsLeft, retryAfter) => {
    expect(await repeatAt(secondsLeft)).toEqual({
      answer: ['idempotency_key_in_use', retryAfter],
      orphansFailed: 0,
    });
  });

  it('ends the job and runs again from the moment its lease ends', async () => {
    expect(await repeatAt(0)).toEqual({ answer: 'new', orphansFailed: 1 });
  });
});

describe('the lease of a running job', () => {
  it('is renewed every 5 s, so that a job of 100 s may still be settled', async () => {
    await claim();
    for (let passed = 0; passed < 100; passed += 20) {
      await setLease(1);
      await pass(20);
      expect(await leaseSeconds()).toBeGreaterThan(20);
    }
    expect(renewals).toBe(20);
  });

  it('is renewed once the database is back, however long it was away', async () => {
    await claim();
    isDatabaseAway = true;
    await setLease(-1);
    await pass(60);
    isDatabaseAway = false;
    await pass(5);
    expect(await leaseSeconds()).toBeGreaterThan(20);
  });

  it.each(['leased_by', 'job_id'])(
    'is renewed no more after the renewal that finds another %s',
    async (column) => {
      await claim();
      await setLease(1);
      await pool.query(`update service.idempotent_requests set ${column} = 'another job'`);
      await pass(10);
      expect(renewals).toBe(1);
      expect(await leaseSeconds()).toBeLessThanOrEqual(1);
    },
  );

  it.each<[string, (claimed: NewClaim) => unknown, number]>([
    ['it has ended and its answer is delivered', (one) => [one.end(), one.delivered()], 1],
    ['it has ended and its answer is lost', (one) => [one.lost(), one.end()], 1],
    ['it has ended, while its answer is on its way', (one) => one.end(), 3],
    ['its answer is delivered, while it runs', (one) => one.delivered(), 3],
    ['its request is released', (one) => one.release(), 1],
  ])('once %s is renewed as often as it is needed', async (_what, end, expected) => {
    const claimed = await claim();
    await pass(5);
    await end(claimed);
    await pass(10);
    expect(renewals).toBe(expected);
  });

  it('is renewed for 180 s at most', async () => {
    await claim();
    await pass(240);
    expect(renewals).toBeLessThanOrEqual(36);
  });
});
