import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobListQuery } from '../../api/contracts/job.ts';
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
let scene: JobListScene;

beforeAll(async () => {
  scene = await createJobListScene(random, JOBS);
});

afterAll(() => scene?.close());

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
    [{ limit: '0' }, 'limit'],
    [{ limit: '101' }, 'limit'],
    [{ limit: 'x' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ status: 'done' }, 'status'],
    [{ before: 'job_1' }, 'before'],
    [{ model: ['a', 'b'] }, 'model'],
  ])('refuses %j and names the parameter [jobs.list-refusals]', (query, param) => {
    expect(() => parseRequest(jobListQuery, query)).toThrow(
      expect.objectContaining({ options: { param } }),
    );
  });

  it.each([
    ['no model has', 'model-unknown'],
    ['is longer than any', 'm'.repeat(300)],
    ['no database could hold', 'model-a\0'],
  ])('is empty for a model id that %s', async (_case, model) => {
    for (const status of [undefined, 'settled']) {
      expect(await scene.list({ model, ...(status && { status }) })).toEqual({
        ...{ object: 'list', data: [], has_more: false, next_cursor: null },
      });
    }
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
