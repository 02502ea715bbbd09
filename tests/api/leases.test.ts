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
import type pg from 'pg';
import type { NewClaim } from '../../api/jobs/claim.ts';
import type { Idempotency } from '../../api/jobs/idempotency.ts';
import { newJobId, openRepeatScene, type RepeatScene, requestOf } from './repeatScene.ts';

const INTERVAL_MS = 5_000;

let scene: RepeatScene;
let idempotency: Idempotency;
let isDatabaseAway: boolean;
let renewals: number;
/** The last one; it never rejects. */
let renewal: Promise<unknown>;

beforeAll(async () => {
  scene = await openRepeatScene();
});
afterAll(() => scene?.close());

beforeEach(async () => {
  isDatabaseAway = false;
  renewals = 0;
  renewal = Promise.resolve();
  await scene.clear();
  // The database's own times are real: its leases are set instead.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
  idempotency = scene.start({ database: { query: reachable } as typeof scene.pool });
});

afterEach(async () => {
  await idempotency.close();
  jest.useRealTimers();
});

function reachable(query: pg.QueryConfig): Promise<pg.QueryResult> {
  if (query.name !== 'renew_leases') return scene.pool.query(query);
  renewals += 1;
  const answered = isDatabaseAway
    ? Promise.reject(new Error('connect ECONNREFUSED'))
    : scene.pool.query(query);
  renewal = answered.catch(() => undefined);
  return answered;
}

const claim = async (): Promise<NewClaim> => (await scene.begin({}, { at: idempotency })).claim;

/** Lets seconds pass, and each renewal that falls due end. */
async function pass(seconds: number): Promise<void> {
  for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += INTERVAL_MS) {
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    await renewal;
    // What follows the statement, and sets the next timer.
    await nextTurn();
  }
}

async function leaseSeconds(): Promise<number> {
  const { rows } = await scene.pool.query(
    `select extract(epoch from lease_expires_at - now())::float8 as left
     from service.idempotent_requests`,
  );
  return rows[0].left;
}

describe('a repeat of a running job', () => {
  /** What it gets when the lease ends so many seconds later, to the microsecond. */
  const repeatAt = (secondsLeft: number) =>
    scene.atOneMoment(async (database, at) => {
      const request = requestOf({ key: 'a-key' });
      await at.claim(request, newJobId());
      await scene.setLease(secondsLeft, database);
      return at.claim(request, newJobId()).then(
        ({ status }) => status,
        ({ code, options }) => [code, options.retryAfterSeconds],
      );
    });

  it.each([
    // Renewed within the last ten seconds: its process lives, and its answer may come any moment.
    [30, 2],
    [21, 2],
    [20, 20],
    [1, 1],
    [0.5, 1],
    // Leases that no process of ours wrote.
    [31, 31],
    [125, 60],
  ])('is to come back, with %d s of its lease left, in %d s', async (secondsLeft, retryAfter) => {
    expect(await repeatAt(secondsLeft)).toEqual(['idempotency_key_in_use', retryAfter]);
    expect(scene.orphans).toEqual([]);
  });

  it('ends the job and runs again from the moment its lease ends', async () => {
    expect(await repeatAt(0)).toBe('new');
    expect(scene.orphans).toHaveLength(1);
  });
});

describe('the lease of a running job', () => {
  it('is renewed every 5 s, so that a job of 100 s may still be settled', async () => {
    await claim();
    for (let passed = 0; passed < 100; passed += 20) {
      await scene.setLease(1);
      await pass(20);
      expect(await leaseSeconds()).toBeGreaterThan(20);
    }
    expect(renewals).toBe(20);
  });

  it('is renewed once the database is back, however long it was away', async () => {
    await claim();
    isDatabaseAway = true;
    await scene.setLease(-1);
    await pass(60);
    isDatabaseAway = false;
    await pass(5);
    expect(await leaseSeconds()).toBeGreaterThan(20);
  });

  it.each(['leased_by', 'job_id'])(
    'is renewed no more after the renewal that finds another %s',
    async (column) => {
      await claim();
      await scene.setLease(1);
      await scene.pool.query(`update service.idempotent_requests set ${column} = 'another job'`);
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
