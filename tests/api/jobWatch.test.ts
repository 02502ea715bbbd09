import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJobWatch, type JobWatch } from '../../api/jobs/jobWatch.ts';
import type { JobProgress } from '../../api/sql/jobs.ts';
import { createLogger } from '../../common/logger.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import { createMovableTime } from '../../testing/movableTime.ts';
import { until } from '../../testing/until.ts';
import { insertAccount, type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const WALLET = 'wallet';
const FAR_MS = 60_000;
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

/** A watch by a time that stands, so that only notifications let it read. */
async function startHeldWatch() {
  const time = createMovableTime();
  time.hold();
  const held = createJobWatch({ pool: database.pool, logger, time });
  await held.start();
  return { time, held };
}

/** Waits until a watch whose time stands has every notification up to now: they come in order. */
async function hearAll(held: JobWatch): Promise<void> {
  const address = await mirrorJob('settled');
  const heard = settlementOf(address, { sinceMs: Number.POSITIVE_INFINITY }, held);
  await notify(address);
  await heard;
}

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

  it('needs no read where the notification says how the job was settled', async () => {
    const address = await mirrorJob('pending');
    const waiting = settlementOf(address, { sinceMs: performance.now() });
    await notify('another job', `${address}:5:a settlement`);
    const said = { status: 'settled', settlement_tx: 'a settlement', available_credits: 5n };
    expect(await waiting).toMatchObject(said);
    // Until the mirror notifies that it holds no more.
    await notify(address);
    await until(async () => !(await settlementOf(address, { timeoutMs: 0 })));
  });

  it('includes notifications since the given moment, even before the call', async () => {
    const { time, held } = await startHeldWatch();
    const address = await mirrorJob('settled');
    const sinceMs = time.nowMs();
    // With no time to wait for anything else.
    const wait = () => settlementOf(address, { timeoutMs: 0, sinceMs }, held);
    expect(await wait()).toBeUndefined();
    await notify(address);
    await hearAll(held);
    expect(await wait()).toMatchObject(settled);
    await held.close();
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
    const { time, held } = await startHeldWatch();
    const address = await mirrorJob('pending');
    const wait = () => {
      const startMs = time.nowMs();
      return held
        .waitFor(address, isSettled, { timeoutMs: 10_000, sinceMs: startMs, silenceMs: 2_000 })
        .then((found) => ({ found, tookMs: time.nowMs() - startMs }));
    };
    // By steps, the last of which may be one too many.
    const first = await time.advanceUntil(wait());
    expect(first.found).toBeUndefined();
    expect(first.tookMs).toBeGreaterThan(1_999);
    expect(first.tookMs).toBeLessThan(5_000);
    expect(await wait()).toEqual({ found: undefined, tookMs: 0 });

    await hearAll(held);
    const waiting = wait();
    await settle(address);
    await notify(address);
    expect(await waiting).toMatchObject({ found: settled });
    await held.close();
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
