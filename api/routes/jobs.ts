import type { Database } from '../../common/postgres.ts';
import { ApiError } from '../contracts/errors.ts';
import type { JobListQuery, jobRoutes } from '../contracts/job.ts';
import type { Disputes } from '../jobs/dispute.ts';
import type { JobKey, UnmirroredJobs } from '../ledger/jobLookup.ts';
import {
  type JobCursor,
  type JobFilter,
  type JobRow,
  selectJob,
  selectJobRange,
} from '../sql/jobs.ts';
import { jobView, viewJob, viewJobs } from '../views/job.ts';
import { writeJobsCsv } from '../views/jobsCsv.ts';
import { pageOf } from '../views/page.ts';
import type { Handlers } from './serveRoutes.ts';

export interface JobServices {
  database: Database;
  unmirrored: UnmirroredJobs;
  disputes: Disputes;
}

/** The wallet's jobs. Pages see more columns of them than keys. */
export function jobHandlers(services: JobServices): Handlers<typeof jobRoutes> {
  const { database, disputes } = services;
  return {
    async listJobs({ wallet, key, query }) {
      const { rows, ...more } = await listJobs(services, wallet, query);
      const data = key ? rows.map(jobView) : await viewJobs(database, rows);
      return { object: 'list', data, ...more };
    },
    getJobsCsv({ wallet, query, response }) {
      return writeJobsCsv(response, readPages(database, filterOf(wallet, query), query));
    },
    async getJob({ wallet, key, params: { job_id: jobId } }) {
      const job = await findJob(services, { wallet, jobId });
      if (!job) throw new ApiError('job_not_found', 'The wallet of this key has no such job.');
      return key ? jobView(job) : viewJob(database, job);
    },
    disputeJob: ({ wallet, params, body }) =>
      disputes.open({ wallet, jobId: params.job_id, clientHash: body.received_output_hash }),
  };
}

/** From the mirror, or from the ledger while the mirror lacks the job. @throws LedgerUnavailableError */
async function findJob(
  { database, unmirrored }: Pick<JobServices, 'database' | 'unmirrored'>,
  key: JobKey,
): Promise<JobRow | undefined> {
  return (await selectJob(database, key)) ?? unmirrored.find(key);
}

/**
 * One page of a wallet's jobs, always newest first. `after` alone goes on to newer ones, and then
 * `next_cursor` is the page's newest job. Otherwise it is the page's oldest, for older ones.
 *
 * @throws ApiError `invalid_request` when a cursor names no job of the wallet
 * @throws LedgerUnavailableError where the mirror does not know a cursor, and no node answers
 */
export async function listJobs(
  services: Pick<JobServices, 'database' | 'unmirrored'>,
  wallet: string,
  query: JobListQuery,
) {
  const { id, limit } = query;
  if (id !== undefined) {
    const job = await selectJob(services.database, { wallet, jobId: id });
    return { rows: job ? [job] : [], has_more: false, next_cursor: null };
  }
  const before = await findCursor(services, wallet, 'before', query.before);
  const after = await findCursor(services, wallet, 'after', query.after);
  // After a job, the next newer ones come first, so that following pages miss none.
  const goesForward = after !== undefined && before === undefined;
  const range = {
    after: laterOf(after, startOf(query.since)),
    before: earlierOf(before, startOf(query.until)),
    order: goesForward ? 'asc' : 'desc',
    // One more than is shown, to see whether there are more.
    rows: limit + 1,
  } as const;
  const found = await selectJobRange(services.database, filterOf(wallet, query), range);
  const { page, ...more } = pageOf(found, limit, ({ job_id }) => job_id);
  return { rows: goesForward ? page.toReversed() : page, ...more };
}

async function findCursor(
  services: Pick<JobServices, 'database' | 'unmirrored'>,
  wallet: string,
  param: 'before' | 'after',
  jobId: string | undefined,
): Promise<JobCursor | undefined> {
  if (jobId === undefined) return undefined;
  // The mirror may be behind a job whose id its client has already.
  const job = await findJob(services, { wallet, jobId });
  if (job) return job;
  throw new ApiError('invalid_request', `'${param}' names no job of this wallet.`, { param });
}

const CSV_PAGE = 1_000;
const CSV_PAGES_MAX = 100;

/** Newest first, page by page. */
async function* readPages(
  database: Database,
  filter: JobFilter,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): AsyncGenerator<JobRow[]> {
  let before = startOf(until);
  for (let page = 0; page < CSV_PAGES_MAX; page += 1) {
    const range = { after: startOf(since), before, order: 'desc', rows: CSV_PAGE } as const;
    const rows = await selectJobRange(database, filter, range);
    yield rows;
    before = rows.at(-1);
    if (rows.length < CSV_PAGE) return;
  }
}

function filterOf(
  wallet: string,
  { status, model }: Pick<JobListQuery, 'status' | 'model'>,
): JobFilter {
  return { wallet, status, modelId: model };
}

/** Before every job that was locked in this second or later. */
function startOf(time: Date | undefined): JobCursor | undefined {
  return time && { locked_at: BigInt(Math.ceil(time.getTime() / 1_000)), job_id: '' };
}

function isBefore(one: JobCursor, other: JobCursor): boolean {
  if (one.locked_at !== other.locked_at) return one.locked_at < other.locked_at;
  return one.job_id < other.job_id;
}

function laterOf(one?: JobCursor, other?: JobCursor): JobCursor | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(one, other) ? other : one;
}

function earlierOf(one?: JobCursor, other?: JobCursor): JobCursor | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(one, other) ? one : other;
}
