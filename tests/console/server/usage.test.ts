import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compareUsage } from '../../../indexer/reconcile/reconcile.ts';
import { insertMirroredJobs } from '../../../testing/database/jobListings.ts';
import { type ConsoleScene, LEDGER_SECONDS, openConsoleScene } from './consoleScene.ts';

let scene: ConsoleScene;
let wallet: string;
const SECOND = Number(LEDGER_SECONDS);
const at = (second: number) => new Date((SECOND + second) * 1_000).toISOString();
const DAY = 86_400;

beforeAll(async () => {
  scene = await openConsoleScene();
  wallet = scene.wallet.publicKey.toBase58();
  const job = (owner: string, place: number, lockedAt: number) => ({
    wallet: owner,
    id: `job_${place.toString(16).padStart(32, '0')}`,
    lockedAt: SECOND + lockedAt,
    status: 'pending',
    model: place % 2 === 0 ? 'model-a' : 'model-b',
  });
  await insertMirroredJobs(scene.pool, [
    ...[0, 1, 2, 3].map((place) => job(wallet, place, place * 1_800)),
    ...[4, 5].map((place) => job(wallet, place, DAY + place)),
    job(scene.stranger.publicKey.toBase58(), 6, 10),
  ]);
});

afterAll(() => scene.close());

const change = (place: number, assignments: string) =>
  scene.pool.query(`update mirror.jobs set ${assignments} where job_id = $1`, [
    `job_${place.toString(16).padStart(32, '0')}`,
  ]);

const usage = async (query: string) =>
  (await scene.call(`GET /usage?${query}`, { cookie: scene.cookie })).body;

const WHOLE = `since=${at(0)}&until=${at(2 * DAY)}`;

describe('usage', () => {
  it('counts jobs by the hour or day of their lock, and by model', async () => {
    const hours = await usage(`by=hour&since=${at(0)}&until=${at(7_200)}`);
    expect(
      hours.data.map(({ start, model, jobs }: Record<string, unknown>) => [start, model, jobs]),
    ).toEqual([
      [at(0), 'model-a', 1],
      [at(0), 'model-b', 1],
      [at(3_600), 'model-a', 1],
      [at(3_600), 'model-b', 1],
    ]);
    const days = await usage(`by=day&${WHOLE}&model=model-a`);
    expect(days.data).toMatchObject([
      { start: at(0), jobs: 2 },
      { start: at(DAY), jobs: 1 },
    ]);
  });

  it('follows a job through its life, also back', async () => {
    const ofWorker = async () => (await usage(`by=day&${WHOLE}&worker=w`)).data;
    await change(0, `worker = 'w', status = 'processing'`);
    expect(await ofWorker()).toMatchObject([{ jobs: 1, settled: 0, credits_charged: 0 }]);

    await change(
      0,
      `status = 'settled', charged_credits = 2, prompt_tokens = 7, completion_tokens = 9,
       counted_tokens = 8`,
    );
    expect(await ofWorker()).toMatchObject([
      { jobs: 1, settled: 1, credits_charged: 2, prompt_tokens: 7, completion_tokens: 8 },
    ]);

    await change(
      0,
      `status = 'pending', worker = null, charged_credits = 0, prompt_tokens = null,
       completion_tokens = null, counted_tokens = null`,
    );
    expect(await ofWorker()).toEqual([]);
    expect((await usage(`by=day&${WHOLE}`)).data[0]).toMatchObject({
      jobs: 2,
      worker_address: null,
    });
  });

  it('counts apart what was charged at the rate for long texts', async () => {
    const ofWorker = async () => (await usage(`by=day&${WHOLE}&worker=l`)).data;
    const charge = (place: number, tokens: number, credits: number) =>
      change(
        place,
        `worker = 'l', status = 'settled', charged_credits = ${credits}, prompt_tokens = 1,
         completion_tokens = ${tokens + 9}, counted_tokens = ${tokens}`,
      );
    await charge(0, 500, 2);
    await charge(2, 501, 1);
    expect(await ofWorker()).toMatchObject([
      { settled: 2, credits_charged: 3, long_jobs: 1, long_credits_charged: 1 },
    ]);

    // A job that comes with its charge, as one does in a mirror that catches up.
    await scene.pool.query(
      `insert into mirror.jobs select (jsonb_populate_record(job,
         '{"address": "another", "job_id": "another"}')).*
       from mirror.jobs job where worker = 'l' and counted_tokens = 501`,
    );
    expect(await ofWorker()).toMatchObject([{ long_jobs: 2, long_credits_charged: 2 }]);

    await scene.pool.query(`delete from mirror.jobs where job_id = 'another'`);
    await change(2, `status = 'refunded', charged_credits = 0`);
    expect(await ofWorker()).toMatchObject([{ long_jobs: 0, long_credits_charged: 0 }]);
    await charge(2, 501, 1);
  });

  it('is found by a reconciliation when it differs from the jobs', async () => {
    expect(await compareUsage(scene.pool)).toEqual([]);
    const wrong = { against: 'jobs', column: 'usage' };
    await scene.pool.query(`update mirror.usage_hours set jobs = jobs + 1 where wallet <> $1`, [
      wallet,
    ]);
    expect(await compareUsage(scene.pool)).toMatchObject([wrong]);

    await scene.pool.query(`update mirror.usage_hours set long_jobs = 0 where long_jobs > 0`);
    expect(await compareUsage(scene.pool)).toMatchObject([wrong, wrong]);
  });

  it.each(['by=week', `until=${at(-1)}`, 'since=x'])('refuses the query %s', async (query) => {
    const { error } = await usage(`since=${at(0)}&until=${at(1)}&${query}`);
    expect(error.code).toBe('invalid_request');
  });
});

describe('latencies', () => {
  it("are percentiles over the wallet's jobs of each model", async () => {
    await scene.pool.query(
      `insert into service.job_timings (job, wallet, model_id, lock_ms, first_token_ms)
       select 'j' || place, $1, 'model-a', place, place * 10 from generate_series(1, 100) place
       union all select 'other', 'another wallet', 'model-a', 9999, 9999`,
      [wallet],
    );
    const now = Date.now();
    const period = [now - 60_000, now + 60_000].map((time) => new Date(time).toISOString());

    const { body } = await scene.call(`GET /usage/latency?since=${period[0]}&until=${period[1]}`, {
      cookie: scene.cookie,
    });

    expect(body.data).toEqual([
      {
        model: 'model-a',
        jobs: 100,
        lock_ms: { p50: 50, p95: 95 },
        first_token_ms: { p50: 500, p95: 950 },
        worker_ms: null,
      },
    ]);
  });
});
