import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bucketSecondsOf } from '../../../api/views/timeBuckets.ts';
import { insertMirroredJobs } from '../../../testing/database/jobListings.ts';
import { type ConsoleScene, LEDGER_SECONDS, openConsoleScene, signIn } from './consoleScene.ts';

const NOW = Number(LEDGER_SECONDS);
const HOUR = 3_600;
const DAY = 86_400;
const at = (second: number) => new Date((NOW + second) * 1_000).toISOString();
let scene: ConsoleScene;

/** Two days of jobs, six hours apart, of each state and of two models in turn. */
const STATUSES = ['settled', 'disputed', 'failed', 'refunded', 'pending', 'settling', 'settled'];

beforeAll(async () => {
  scene = await openConsoleScene();
  const job = (wallet: string, place: number) => ({
    wallet,
    id: `job_${place.toString(16).padStart(32, '0')}`,
    lockedAt: NOW - 2 * DAY + place * 6 * HOUR,
    status: STATUSES[place] ?? 'settled',
    model: place % 2 === 0 ? 'model-a' : 'model-b',
  });
  const places = STATUSES.map((_, place) => place);
  await insertMirroredJobs(scene.pool, [
    ...places.map((place) => job(scene.wallet.publicKey.toBase58(), place)),
    ...places.map((place) => job(scene.stranger.publicKey.toBase58(), place)),
  ]);
});

afterAll(() => scene.close());

const counts = async (query = '') =>
  (await scene.call(`GET /job-counts?${query}`, { cookie: scene.cookie })).body;

/** Sums over all slots. */
const together = ({ data }: { data: Record<string, number | string>[] }) =>
  ['settled', 'failed', 'refunded', 'unfinished'].map((state) =>
    data.reduce((sum, slot) => sum + Number(slot[state]), 0),
  );

describe('the counts of jobs', () => {
  it('go from the first job to now, by state, in slots of whole hours', async () => {
    const answer = await counts();

    expect(answer).toMatchObject({ since: at(-2 * DAY), until: at(HOUR), slot_seconds: HOUR });
    const none = { settled: 0, failed: 0, refunded: 0, unfinished: 0 };
    expect(answer.data).toEqual(
      STATUSES.map((status, place) => ({
        ...none,
        start: at(-2 * DAY + place * 6 * HOUR),
        [{ disputed: 'settled', pending: 'unfinished', settling: 'unfinished' }[status] ?? status]:
          1,
      })),
    );
  });

  it('are of the last day at least', async () => {
    const other = await counts(`since=${at(-DAY / 2)}`);
    expect(other.since).toBe(at(-DAY / 2));
    await scene.pool.query('delete from mirror.jobs where wallet = $1', [
      scene.stranger.publicKey.toBase58(),
    ]);

    const { body } = await scene.call('GET /job-counts', {
      cookie: await signIn(scene.call, scene.stranger),
    });

    expect(body).toMatchObject({ since: at(-DAY), until: at(HOUR), data: [] });
  });

  it('narrow to a time and a model', async () => {
    expect(together(await counts(`since=${at(-DAY)}`))).toEqual([1, 0, 0, 2]);
    expect(together(await counts(`until=${at(-DAY)}`))).toEqual([2, 1, 1, 0]);
    expect(together(await counts('model=model-b'))).toEqual([1, 0, 1, 1]);
    const short = await counts(`since=${at(-2 * DAY + 60)}&until=${at(-2 * DAY + 120)}`);
    expect([short.since, short.until]).toEqual([at(-2 * DAY), at(-2 * DAY + HOUR)]);
  });

  it.each([
    ['before the first job', `until=${at(-3 * DAY)}`],
    ['in the future', `since=${at(DAY)}`],
  ])('are empty %s', async (_when, query) => {
    const answer = await counts(query);

    expect(answer.data).toEqual([]);
    expect(Date.parse(answer.until)).toBeGreaterThan(Date.parse(answer.since));
  });

  it.each([`since=${at(0)}&until=${at(0)}`, 'since=yesterday', 'model=a&model=b'])(
    'refuse the query %s',
    async (query) => {
      expect((await counts(query)).error.code).toBe('invalid_request');
    },
  );
});

describe('the buckets of a period', () => {
  it.each([
    [HOUR, HOUR],
    [4 * DAY, HOUR],
    [4 * DAY + HOUR, 2 * HOUR],
    [96 * DAY, DAY],
    [97 * DAY, 7 * DAY],
    [20 * 365 * DAY, 84 * DAY],
  ])('of %i s have %i s', (length, bucket) => {
    expect(bucketSecondsOf({ since: 0, until: length })).toBe(bucket);
  });
});
