import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJobWatch, type JobWatch } from '../../api/jobs/jobWatch.ts';
import { insertTimings, type JobProgress } from '../../api/sql/jobs.ts';
import { createLogger } from '../../common/logger.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import { createMovableTime } from '../../testing/movableTime.ts';
import { until } from '../../testing/until.ts';
import { insertAccount, type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const WALLET = 'wallet';
const FAR_MS = 60_000;
const TIMING = {
  ...{ job: 'timed job', wallet: WALLET, modelId: 'model', lockMs: 1, firstTokenMs: undefined },
  ...{ workerMs: 2, settlementMs: 3 },
};
let database: KeyedDatabase;
let watch: JobWatch;
let made = 0;

beforeAll(async () => {
  database = await openKeyedDatabase();
  await insertAccount(database.pool, { wallet: WALLET, availableCredits: 77n });
});

afterAll(() => database.close());

beforeEach(async () => {
  watch = createJobWatch({ pool: database.pool, logger });
  await watch.start();
});

afterEach(() => watch.close());

/** @returns the address of a job that the mirror shows so */
async function mirrorJob(status: string): Promise<string> {
  made += 1;
  const id = `job ${made}`;
  await insertMirroredJobs(database.pool, [
    { wallet: WALLET, id, lockedAt: 1, status, model: 'model' },
  ]);
  return `${WALLET} ${id}`;
}

async function settle(address: string): Promise<void> {
  await database.pool.query(`update mirror.jobs set status = 'settled' where address = $1`, [
    address,
  ]);
}

async function notify(...addresses: string[]): Promise<void> {
  await database.pool.query(`select pg_notify('mirror_jobs', $1)`, [addresses.join(',')]);
}

const logger = createLogger({ name: 'test', level: 'silent' });
const isSettled = ({ status }: JobProgress) => status === 'settled';
const settled = { status: 'settled', available_credits: 77n };

/** The jobs of its next notification. */
const nextChange = (of: JobWatch) =>
  new Promise<readonly string[]>((resolve) => {
    const stop = of.onChanges((addresses) => {
      stop();
      resolve(addresses);
    });
  });

/** What a watch shows of a job that is waited for until it is settled, for long by default. */
const settlementOf = (
  address: string,
  wait: { timeoutMs?: number; sinceMs?: number } = {},
  by = watch,
) => by.waitFor(address, isSettled, { timeoutMs: FAR_MS, ...wait });

describe('the watch over jobs in the mirror', () => {
  it('reads again when the mirror notifies of the job', async () => {
    const address = await mirrorJob('pending');
    const waiting = settlementOf(address, { sinceMs: performance.now() });
    await notify('another job', address);
    await settle(address);
    await notify(address);
    expect(await waiting).toMatchObject(settled);
  });

  it('includes notifications since the given moment, even before the call', async () => {
    const address = await mirrorJob('settled');
    const sinceMs = performance.now();
    const notified = nextChange(watch);
    await notify(address);
    expect(await notified).toEqual([address]);
    // With no time to wait for anything else.
    expect(await settlementOf(address, { timeoutMs: 0, sinceMs })).toMatchObject(settled);
  });

  it('polls when no notification comes', async () => {
    const address = await mirrorJob('settled');
    const sinceMs = performance.now();
    expect(await settlementOf(address, { sinceMs })).toMatchObject(settled);
  });

  it('continues after a short database outage', async () => {
    const { pool } = database;
    let failures = 0;
    const query = (statement: never) => {
      if (failures >= 2) return pool.query(statement);
      failures += 1;
      return Promise.reject(new Error('Query read timeout'));
    };
    const shaken = createJobWatch({ pool: { query } as unknown as typeof pool, logger });
    const address = await mirrorJob('settled');
    expect(await settlementOf(address, {}, shaken)).toMatchObject(settled);
    expect(failures).toBe(2);
  });

  it('returns nothing at its time-out or for an unknown job', async () => {
    const address = await mirrorJob('pending');
    expect(await settlementOf(address, { timeoutMs: 0 })).toBeUndefined();
    expect(await settlementOf('nowhere', { timeoutMs: 0 })).toBeUndefined();
  });

  it('ends at once while the mirror is silent, and waits again after that', async () => {
    const time = createMovableTime();
    time.hold();
    const timed = createJobWatch({ pool: database.pool, logger, time });
    await timed.start();
    const address = await mirrorJob('pending');
    const wait = () => {
      const startMs = time.nowMs();
      return timed
        .waitFor(address, isSettled, { timeoutMs: 10_000, sinceMs: startMs, silenceMs: 2_000 })
        .then((found) => ({ found, tookMs: time.nowMs() - startMs }));
    };
    // By steps, the last of which may be one too many.
    const first = await time.advanceUntil(wait());
    expect(first.found).toBeUndefined();
    expect(first.tookMs).toBeGreaterThan(1_999);
    expect(first.tookMs).toBeLessThan(5_000);
    expect(await wait()).toEqual({ found: undefined, tookMs: 0 });

    const timing = nextChange(timed);
    await insertTimings(database.pool, [TIMING]);
    expect(await timing).toEqual([TIMING.job]);
    // The timing is the word of an API, and not of the mirror.
    expect(await wait()).toEqual({ found: undefined, tookMs: 0 });
    const word = nextChange(timed);
    await notify('another job');
    await word;
    const waiting = wait();
    await settle(address);
    await notify(address);
    expect(await waiting).toMatchObject({ found: settled });
    await timed.close();
  });

  it('passes on hints about several transactions at once', async () => {
    const listener = await database.pool.connect();
    const heard: (string | undefined)[] = [];
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query('listen ledger_hint');
    for (const signature of ['first', 'second', 'third']) watch.hint(signature);
    await until(async () => heard.length === 3);
    expect(heard.sort()).toEqual(['first', 'second', 'third']);
    listener.release(true);
  });
});
