import type { Database } from '../../common/postgres.ts';
import { ApiError } from '../contracts/errors.ts';
import type { JobList, JobListQuery } from '../contracts/job.ts';
import { jobView } from '../contracts/views.ts';
import type { UnmirroredJobs } from '../ledger/jobLookup.ts';
import { type JobCursor, selectJob, selectJobRange } from '../sql/jobs.ts';

export interface JobListServices {
  database: Database;
  unmirrored: UnmirroredJobs;
}

/**
 * One page of a wallet's jobs, always newest first. `after` alone goes on to newer ones, and then
 * `next_cursor` is the page's newest job. Otherwise it is the page's oldest, for older ones.
 *
 * @throws ApiError `invalid_request` when a cursor names no job of the wallet
 * @throws LedgerUnavailableError where the mirror does not know a cursor, and no node answers
 */
export async function listJobs(
  services: JobListServices,
  wallet: string,
  query: JobListQuery,
): Promise<JobList> {
  const before = await findCursor(services, wallet, 'before', query.before);
  const after = await findCursor(services, wallet, 'after', query.after);
  // After a job, the next newer ones come first, so that following pages miss none.
  const goesForward = after !== undefined && before === undefined;
  const order = goesForward ? 'asc' : 'desc';
  const filter = { wallet, status: query.status, modelId: query.model };
  // One more than is shown, to see whether there are more.
  const range = { before, after, order, rows: query.limit + 1 } as const;
  const rows = await selectJobRange(services.database, filter, range);
  const page = rows.slice(0, query.limit);
  const has_more = rows.length > page.length;
  const last = page.at(-1);
  return {
    object: 'list',
    data: (goesForward ? page.reverse() : page).map(jobView),
    has_more,
    next_cursor: has_more && last ? last.job_id : null,
  };
}

async function findCursor(
  { database, unmirrored }: JobListServices,
  wallet: string,
  param: 'before' | 'after',
  jobId: string | undefined,
): Promise<JobCursor | undefined> {
  if (jobId === undefined) return undefined;
  const key = { wallet, jobId };
  // The mirror may be behind a job whose id its client has already.
  const job = (await selectJob(database, key)) ?? (await unmirrored.find(key));
  if (!job) {
    throw new ApiError('invalid_request', `'${param}' names no job of this wallet.`, { param });
  }
  return job;
}
