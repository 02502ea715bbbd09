import { type JobList, jobRoutes } from '../../api/contracts/job.ts';
import { parseRequest } from '../../api/contracts/values.ts';
import { listJobs } from '../../api/routes/jobs.ts';
import { jobView } from '../../api/views/job.ts';
import { JOB_STATUSES } from '../../programs/client/generated/vocabulary.ts';
import { insertMirroredJobs, type MirroredJob } from '../../testing/database/jobListings.ts';
import { openPooledDatabase } from '../../testing/database/pooledDatabase.ts';
import type { Random } from '../../testing/random.ts';

export interface Query {
  limit?: number;
  before?: string;
  after?: string;
  status?: string;
  model?: string;
}

export const MODELS = ['model-a', 'model-b'];

export type JobListScene = Awaited<ReturnType<typeof createJobListScene>>;

const WALLET = 'mine';
const OTHER_WALLETS = ['another', 'zealous'];
/** Few, so that many jobs share a second and their ids have to decide. */
const JOBS_PER_SECOND = 6;
/** How far an id's time may be from its lock, either way: ids come out of order. */
const ID_SKEW_MS = 20_000;

/** A mirror with jobs of several wallets, to list those of one. */
export async function createJobListScene(random: Random, count: number) {
  const { pool, close } = await openPooledDatabase();
  /** What the wallet should see, newest first. */
  const jobs: MirroredJob[] = [];
  let nextSecond = 1_800_000_000;

  /** Locks more of the wallet's jobs, later than all there are. */
  async function lockMore(more: number): Promise<void> {
    const seconds = Math.ceil(more / JOBS_PER_SECOND);
    const drawn = Array.from({ length: more }, () =>
      drawJob(random, nextSecond + random.below(seconds)),
    );
    nextSecond += seconds;
    // The same ids under other wallets: ids are unique per wallet only.
    const others = OTHER_WALLETS.flatMap((wallet) => drawn.map((job) => ({ ...job, wallet })));
    await insertMirroredJobs(pool, [...drawn, ...others]);
    jobs.push(...drawn);
    jobs.sort((a, b) => b.lockedAt - a.lockedAt || (a.id < b.id ? 1 : -1));
  }

  await lockMore(count);
  return {
    ...{ pool, jobs, lockMore, close },
    async list(query: Query): Promise<JobList> {
      const entries = Object.entries(query).map(([name, value]) => [name, String(value)]);
      const services = { database: pool, unmirrored: { find: async () => undefined } };
      const asked = parseRequest(jobRoutes.listJobs.query, Object.fromEntries(entries));
      const { rows, ...more } = await listJobs(services, WALLET, asked);
      return { object: 'list', data: rows.map(jobView), ...more };
    },
  };
}

function drawJob(random: Random, lockedAt: number): MirroredJob {
  const idTimeMs = lockedAt * 1_000 + random.below(2 * ID_SKEW_MS) - ID_SKEW_MS;
  const tail = Buffer.from(random.bytes(10)).toString('hex');
  return {
    wallet: WALLET,
    id: `job_${idTimeMs.toString(16).padStart(12, '0')}7${tail.slice(1, 4)}8${tail.slice(5)}`,
    lockedAt,
    status: JOB_STATUSES[random.below(JOB_STATUSES.length)] as string,
    model: MODELS[random.below(MODELS.length)] as string,
  };
}

/** The list as the documentation words it, over a plain array. @param jobs newest first */
export function expectedPage(jobs: readonly MirroredJob[], query: Query) {
  const { limit = 20, before, after, status, model } = query;
  const place = (id: string) => jobs.findIndex((job) => job.id === id);
  const matching = jobs
    .slice(after === undefined ? 0 : undefined, after === undefined ? undefined : place(after))
    .filter((job) => before === undefined || place(job.id) > place(before))
    .filter((job) => status === undefined || job.status === status)
    .filter((job) => model === undefined || job.model === model)
    .map(({ id }) => id);
  const has_more = matching.length > limit;
  // `after` alone gives the next newer ones, and goes on to newer ones still; else to older ones.
  const goesForward = after !== undefined && before === undefined;
  const ids = goesForward ? matching.slice(-limit) : matching.slice(0, limit);
  const next = goesForward ? ids[0] : ids.at(-1);
  return { ids, has_more, next_cursor: has_more ? next : null };
}
