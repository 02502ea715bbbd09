import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobRoutes } from '../../api/contracts/job.ts';
import { parseRequest } from '../../api/contracts/values.ts';
import { JOB_STATUSES } from '../../programs/client/generated/vocabulary.ts';
import { createRandom } from '../../testing/random.ts';
import {
  createJobListScene,
  expectedPage,
  type JobListScene,
  MODELS,
  type Query,
} from './jobListScene.ts';

const random = createRandom();
const JOBS = 150;
const PAGED_JOBS = 60;
let scene: JobListScene;
/** Another, to which jobs are added. */
let paged: JobListScene;

beforeAll(async () => {
  scene = await createJobListScene(random, JOBS);
  paged = await createJobListScene(random, PAGED_JOBS);
});

afterAll(async () => {
  await scene?.close();
  await paged?.close();
});

/** Every query that one value of each list makes; undefined leaves the parameter out. */
function combine(values: { [Name in keyof Query]-?: (Query[Name] | undefined)[] }): Query[] {
  return Object.entries(values).reduce<Query[]>(
    (queries, [name, list]) =>
      queries.flatMap((query) =>
        list.map((value) => (value === undefined ? query : { ...query, [name]: value })),
      ),
    [{}],
  );
}

describe(`the job list (seed ${random.seed})`, () => {
  it('equals a simple model for every mix of cursors and filters [jobs.list]', async () => {
    const { jobs } = scene;
    const cursors = () => [undefined, jobs[0]?.id, jobs[random.below(JOBS)]?.id, jobs.at(-1)?.id];
    const queries = combine({
      limit: [undefined, 1, 2 + random.below(10), 100],
      before: cursors(),
      after: cursors(),
      status: [undefined, ...JOB_STATUSES],
      model: [undefined, ...MODELS, 'model-unknown'],
    });
    for (const query of queries) {
      const { object, data, has_more, next_cursor } = await scene.list(query);
      const ids = data.map(({ id }) => id);
      expect({ query, object, ids, has_more, next_cursor }).toEqual({
        query,
        object: 'list',
        ...expectedPage(jobs, query),
      });
    }
  });

  it.each([
    [{ model: ['a', 'b'] }, 'model'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ limit: '1e1' }, 'limit'],
    [{ before: 'job_\0' }, 'before'],
    [{ status: 'constructor' }, 'status'],
  ])('refuses %j and names the parameter [jobs.list-refusals]', (query, param) => {
    expect(() => parseRequest(jobRoutes.listJobs.query, query)).toThrow(
      expect.objectContaining({ options: { param } }),
    );
  });

  it.each(['before', 'after'] as const)(
    'refuses an unknown job as the cursor %s [jobs.list-refusals]',
    async (param) => {
      await expect(scene.list({ [param]: `job_${'0'.repeat(32)}` })).rejects.toThrow(
        expect.objectContaining({ options: { param } }),
      );
    },
  );
});

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
    const { data, has_more, next_cursor } = await paged.list(query);
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
    const [oldest] = paged.jobs.slice(-1);
    for (const limit of [1, 7, 100]) {
      for (const status of [undefined, ...JOB_STATUSES]) {
        for (const model of [undefined, ...MODELS]) {
          const filter = { ...(status && { status }), ...(model && { model }) };
          const matching = paged.jobs.filter(
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

  it('going back, show each first job once while new jobs arrive [jobs.list]', async () => {
    const there = idsOf(paged.jobs);
    expect(await follow('before', { limit: 7 }, () => paged.lockMore(3))).toEqual(there);
    expect(paged.jobs.length).toBeGreaterThan(there.length);
  });

  it('going forward, also show once what arrives in between [jobs.list]', async () => {
    const [oldest] = paged.jobs.slice(-1);
    const seen = await follow('after', { limit: 7, after: oldest?.id as string }, () =>
      paged.lockMore(3),
    );
    await paged.lockMore(5);
    seen.push(...(await follow('after', { limit: 7, after: seen.at(-1) as string })));
    expect(seen).toEqual(idsOf(paged.jobs).reverse().slice(1));
  });
});
