import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JOB_STATUSES } from '../../programs/client/generated/vocabulary.ts';
import { createRandom } from '../../testing/random.ts';
import { createJobListScene, type JobListScene, MODELS, type Query } from './jobListScene.ts';

const random = createRandom();
const JOBS = 60;
let scene: JobListScene;

beforeAll(async () => {
  scene = await createJobListScene(random, JOBS);
});

afterAll(() => scene?.close());

/**
 * Follows `next_cursor` until there is none.
 *
 * @param betweenPages what happens before each page but the first
 * @returns all ids, in the order in which they were seen
 */
async function follow(
  direction: 'before' | 'after',
  start: Query,
  betweenPages = async () => {},
): Promise<string[]> {
  const seen: string[] = [];
  let query = start;
  for (;;) {
    const { data, has_more, next_cursor } = await scene.list(query);
    const ids = data.map(({ id }) => id);
    seen.push(...(direction === 'before' ? ids : ids.reverse()));
    expect(has_more).toBe(next_cursor !== null);
    if (next_cursor === null) return seen;
    expect(ids).toHaveLength(query.limit as number);
    query = { ...query, [direction]: next_cursor };
    await betweenPages();
  }
}

const idsOf = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

describe(`the pages of the job list (seed ${random.seed})`, () => {
  it('show every job once when followed to the end, back and forward [jobs.list]', async () => {
    const [oldest] = scene.jobs.slice(-1);
    for (const limit of [1, 7, 100]) {
      for (const status of [undefined, ...JOB_STATUSES]) {
        for (const model of [undefined, ...MODELS]) {
          const filter = { ...(status && { status }), ...(model && { model }) };
          const matching = scene.jobs.filter(
            (job) => job.status === (status ?? job.status) && job.model === (model ?? job.model),
          );
          expect(await follow('before', { limit, ...filter })).toEqual(idsOf(matching));
          const newer = matching.filter((job) => job !== oldest).reverse();
          const start = { limit, ...filter, after: oldest?.id as string };
          expect(await follow('after', start)).toEqual(idsOf(newer));
        }
      }
    }
  });

  it('show every job between two approaching cursors once', async () => {
    for (const limit of [1, 4, 7, 100]) {
      const [first, last] = [random.below(20), JOBS - 1 - random.below(20)];
      const between = scene.jobs.slice(first + 1, last);
      const [newest, oldest] = [scene.jobs[first]?.id, scene.jobs[last]?.id] as [string, string];
      const start = { limit, before: newest, after: oldest };
      expect(await follow('before', start)).toEqual(idsOf(between));
    }
  });

  it('going back, show each first job once while new jobs arrive [jobs.list]', async () => {
    const there = idsOf(scene.jobs);
    expect(await follow('before', { limit: 7 }, () => scene.lockMore(3))).toEqual(there);
    expect(scene.jobs.length).toBeGreaterThan(there.length);
  });

  it('going forward, also show once what arrives in between [jobs.list]', async () => {
    const [oldest] = scene.jobs.slice(-1);
    const seen = await follow('after', { limit: 7, after: oldest?.id as string }, () =>
      scene.lockMore(3),
    );
    await scene.lockMore(5);
    seen.push(...(await follow('after', { limit: 7, after: seen.at(-1) as string })));
    expect(seen).toEqual(idsOf(scene.jobs).reverse().slice(1));
  });
});
