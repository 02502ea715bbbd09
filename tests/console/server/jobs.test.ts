import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { csvCell } from '../../../api/views/jobsCsv.ts';
import { insertMirroredJobs } from '../../../testing/database/jobListings.ts';
import { type ConsoleScene, LEDGER_SECONDS, openConsoleScene } from './consoleScene.ts';

let scene: ConsoleScene;
const jobId = (place: number) => `job_${place.toString(16).padStart(32, '0')}`;
const SECOND = Number(LEDGER_SECONDS);
const at = (second: number) => new Date((SECOND + second) * 1_000).toISOString();

beforeAll(async () => {
  scene = await openConsoleScene();
  const [mine, theirs] = [scene.wallet, scene.stranger].map((key) => key.publicKey.toBase58());
  const job = (wallet: string, place: number) => ({
    wallet,
    id: jobId(place),
    lockedAt: SECOND + place,
    status: place % 2 === 0 ? 'settled' : 'failed',
    model: place % 3 === 0 ? '=cmd()' : 'model-b',
  });
  const places = Array.from({ length: 10 }, (_, place) => place);
  await insertMirroredJobs(scene.pool, [
    ...places.map((place) => job(String(mine), place)),
    ...places.map((place) => job(String(theirs), place + 100)),
  ]);
});

afterAll(() => scene.close());

const list = async (query: string, cookie = scene.cookie) =>
  (await scene.call(`GET /jobs?${query}`, { cookie })).body;
const placesOf = (listed: { data: { id: string }[] }) =>
  listed.data.map(({ id }) => Number.parseInt(id.slice(4), 16));

describe("the wallet's jobs", () => {
  it('are listed newest first, by state, model and time together', async () => {
    expect(placesOf(await list(''))).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(placesOf(await list(`since=${at(2)}&until=${at(5)}`))).toEqual([4, 3, 2]);
    expect(placesOf(await list(`since=${at(2)}&until=${at(9)}&status=failed`))).toEqual([7, 5, 3]);
    expect(placesOf(await list(`since=${at(1)}&model=model-b&status=settled`))).toEqual([8, 4, 2]);
  });

  it('go on in pages within the time that was asked for', async () => {
    const query = `since=${at(3)}&until=${at(8)}&limit=2`;
    const first = await list(query);
    const second = await list(`${query}&before=${first.next_cursor}`);
    const third = await list(`${query}&before=${second.next_cursor}`);

    expect([first, second, third].flatMap(placesOf)).toEqual([7, 6, 5, 4, 3]);
    expect(third.has_more).toBe(false);
    expect(placesOf(await list(`${query}&after=${jobId(4)}`))).toEqual([6, 5]);
  });

  it('are found by a pasted id, of the own wallet alone', async () => {
    expect(placesOf(await list(`id=${jobId(4)}`))).toEqual([4]);
    expect(placesOf(await list(`id=${jobId(104)}`))).toEqual([]);
    expect((await list('id=job_x')).error.param).toBe('id');
    const foreign = await scene.call(`GET /jobs/${jobId(104)}`, { cookie: scene.cookie });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'job_not_found']);
    const cursor = await list(`before=${jobId(104)}`);
    expect(cursor.error.param).toBe('before');
  });

  it('say which of the prices at the lock was charged, also as CSV [charging.threshold]', async () => {
    const charge = (tokens: number, status: string) =>
      scene.pool.query(
        `update mirror.jobs set status = $1, charged_credits = 2, prompt_tokens = 9,
           completion_tokens = $2, counted_tokens = 600
         where job_id = $3 and wallet = $4`,
        [status, tokens, jobId(4), scene.wallet.publicKey.toBase58()],
      );
    const rates: unknown[] = [];
    for (const [tokens, status] of [
      [500, 'settled'],
      [501, 'settled'],
      [501, 'disputed'],
      [501, 'refunded'],
    ] as const) {
      await charge(tokens, status);
      rates.push((await list(`id=${jobId(4)}`)).data[0].rate);
    }
    expect(rates).toEqual(['per_request', 'per_1k_tokens', 'per_1k_tokens', null]);

    await charge(501, 'settled');
    const { data } = await list(`id=${jobId(4)}`);
    expect(data[0].price).toEqual({
      credits_per_request: 2,
      credits_per_1k_tokens: 1,
      long_completion_threshold: 500,
    });
    const { body } = await scene.call(`GET /jobs.csv?since=${at(4)}&until=${at(5)}`, {
      cookie: scene.cookie,
    });
    expect(body).toContain(',credits_charged,rate,prompt_tokens,');
    expect(body).toContain(',2,per_1k_tokens,9,');
  });

  it('have the milliseconds that were measured, and null for the others', async () => {
    const wallet = scene.wallet.publicKey.toBase58();
    await scene.pool.query(
      `insert into service.job_timings (job, wallet, model_id, lock_ms, first_token_ms)
       values ($1, $2, 'model-b', 12, 340)`,
      [`${wallet} ${jobId(4)}`, wallet],
    );
    const { data } = await list(`id=${jobId(4)}`);
    expect(data[0].timings).toEqual({
      lock_ms: 12,
      first_token_ms: 340,
      worker_ms: null,
      settlement_ms: null,
    });
    expect((await list(`id=${jobId(5)}`)).data[0].timings).toBeNull();
  });
});

describe('the CSV of jobs', () => {
  it('has the same jobs, and no cell that a spreadsheet would run', async () => {
    const { body, headers } = await scene.call(`GET /jobs.csv?since=${at(2)}&until=${at(5)}`, {
      cookie: scene.cookie,
    });

    const [head, ...rows] = body.trimEnd().split('\r\n');
    expect(head).toContain('id,status,model,tier,created_at');
    expect(rows.map((row: string) => row.split(',')[2])).toEqual(['model-b', "'=cmd()", 'model-b']);
    expect(headers.get('content-disposition')).toBe('attachment; filename="jobs.csv"');
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\t=1', "'\t=1"],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['=a\n"', '"\'=a\n"""'],
    [null, ''],
    [0n, '0'],
  ])('writes %j as %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });
});
