import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { jobListQuery } from '../../api/contracts/jobList.ts';
import { parseRequest } from '../../api/contracts/parse.ts';
import { listJobs } from '../../api/services/jobList.ts';
import { migrate } from '../../indexer/migrate.ts';
import { JOB_STATUSES } from '../../programs/client/vocabulary.ts';
import { createPool } from '../../runtime/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createRandom } from '../support/random.ts';

const random = createRandom();
const JOBS = 60;
const models = ['model-a', 'model-b'];

interface Known {
  id: string;
  lockedAt: number;
  status: string;
  model: string;
}

/** Few distinct times, so that many jobs share one and the id has to decide. */
const jobs: Known[] = Array.from({ length: JOBS }, () => ({
  id: `job_${Buffer.from(random.bytes(16)).toString('hex')}`,
  lockedAt: 1_800_000_000 + random.below(10),
  status: JOB_STATUSES[random.below(JOB_STATUSES.length)] as string,
  model: models[random.below(models.length)] as string,
}));
const newestFirst = [...jobs].sort(
  (a, b) => b.lockedAt - a.lockedAt || (b.id < a.id ? -1 : b.id > a.id ? 1 : 0),
);

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  await migrate(pool);
  for (const wallet of ['mine', 'theirs']) {
    for (const job of jobs) await insertJob(wallet, job);
  }
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

async function insertJob(wallet: string, job: Known): Promise<void> {
  await pool.query(
    `insert into mirror.jobs (
       address, job_id, credit_account, wallet, controller, model, model_id, tier, status, attempt,
       token_limit, credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens,
       treasury_share_basis_points, slash_tokens, job_timeout_seconds, dispute_window_seconds,
       arbitration_window_seconds, rent_payer, locked_credits, charged_credits, locked_at,
       escrow_tx, escrow_slot, closed, sequence)
     values ($1, $2, 'account', $3, 'controller', 'model', $4, 'lite', $5, 0, 2000, 2, 1, 500,
       1500, 500, 120, 60, 86400, 'payer', 2, 0, $6, 'tx', 1, false, 1)`,
    [`${wallet} ${job.id}`, job.id, wallet, job.model, job.status, job.lockedAt],
  );
}

type Query = { limit?: number; before?: string; after?: string; status?: string; model?: string };

/** The list as the documentation words it, over plain arrays. */
function expected(query: Query): { ids: string[]; next_cursor: string | null } {
  const limit = query.limit ?? 20;
  const place = (id: string) => newestFirst.findIndex((job) => job.id === id);
  const inRange = newestFirst.filter(
    (_, index) =>
      (query.before === undefined || index > place(query.before)) &&
      (query.after === undefined || index < place(query.after)),
  );
  const matching = inRange
    .filter((job) => query.status === undefined || job.status === query.status)
    .filter((job) => query.model === undefined || job.model === query.model)
    .map((job) => job.id);
  const hasMore = matching.length > limit;
  if (query.after === undefined) {
    const ids = matching.slice(0, limit);
    return { ids, next_cursor: hasMore ? (ids.at(-1) as string) : null };
  }
  const ids = matching.slice(Math.max(0, matching.length - limit));
  return { ids, next_cursor: hasMore ? (ids[0] as string) : null };
}

async function list(query: Query) {
  const text = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, `${value}`]));
  return listJobs(pool, 'mine', parseRequest(jobListQuery, text));
}

describe(`the job list (seed ${random.seed})`, () => {
  it('equals a plain reading of its documentation for every mix of cursors and filters', async () => {
    const maybe = <Value>(value: Value): Value | undefined =>
      random.below(2) === 0 ? value : undefined;
    const pick = <Value>(values: readonly Value[]) => values[random.below(values.length)] as Value;
    for (let round = 0; round < 200; round += 1) {
      const drawn: Query = {
        limit: maybe(1 + random.below(JOBS)),
        before: maybe(pick(jobs).id),
        after: maybe(pick(jobs).id),
        status: maybe(pick(JOB_STATUSES)),
        model: maybe(pick([...models, 'model-unknown'])),
      } as Query;
      const query = Object.fromEntries(
        Object.entries(drawn).filter(([, value]) => value !== undefined),
      ) as Query;
      const { data, has_more, next_cursor } = await list(query);
      const reference = expected(query);
      expect({ query, ids: data.map((job) => job.id), next_cursor }).toEqual({
        query,
        ...reference,
      });
      expect(has_more).toBe(next_cursor !== null);
    }
  });

  it('shows every job once when its pages are followed to the end', async () => {
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = await list({ limit: 7, ...(before !== null && { before }) });
      seen.push(...page.data.map((job) => job.id));
      before = page.next_cursor;
    } while (before !== null);
    expect(seen).toEqual(newestFirst.map((job) => job.id));
  });

  it.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '101' }, 'limit'],
    [{ limit: 'x' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ status: 'done' }, 'status'],
    [{ before: 'job_1' }, 'before'],
    [{ model: ['a', 'b'] }, 'model'],
  ])('refuses %j and names the parameter', (query, param) => {
    expect(() => parseRequest(jobListQuery, query)).toThrow(
      expect.objectContaining({ options: { param } }),
    );
  });

  it.each(['before', 'after'] as const)(
    'refuses a job of nobody as the cursor %s',
    async (param) => {
      await expect(list({ [param]: `job_${'0'.repeat(32)}` })).rejects.toThrow(
        expect.objectContaining({ options: { param } }),
      );
    },
  );
});
