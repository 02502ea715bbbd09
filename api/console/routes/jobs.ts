import type { Database } from '../../../common/postgres.ts';
import { assertNotSuspended } from '../../account/suspensions.ts';
import { ApiError } from '../../contracts/errors.ts';
import { assertSpender, type KeyAdmission } from '../../http/middleware/authentication.ts';
import { addressOf } from '../../http/middleware/burstLimit.ts';
import { rawBodyOf } from '../../http/middleware/requestBody.ts';
import type { Completions } from '../../jobs/completion.ts';
import type { Disputes } from '../../jobs/dispute.ts';
import type { IdentifyRequest } from '../../jobs/requestIdentity.ts';
import { type JobCursor, type JobFilter, selectJobRange } from '../../sql/jobs.ts';
import type { ConsoleJobList, jobRoutes } from '../contracts/job.ts';
import { readSessionCookie } from '../http/cookie.ts';
import type { Call, Handlers } from '../http/serveRoutes.ts';
import { type ConsoleJobRow, consoleJobColumns, selectConsoleJob } from '../sql/jobs.ts';
import { selectLiveKey } from '../sql/settings.ts';
import type { ChangeStreams } from '../stream/changes.ts';
import { writeJobsCsv } from '../views/jobsCsv.ts';
import { viewJobs } from '../views/jobView.ts';
import { pageOf } from '../views/page.ts';
import { asApiError } from './settings.ts';

interface JobServices {
  database: Database;
  disputes: Disputes;
  completions: Completions;
  identify: IdentifyRequest;
  keys: KeyAdmission;
  gateway: string;
  streams: ChangeStreams;
}

/** The wallet's jobs, their stream, and the playground. */
export function jobHandlers(services: JobServices): Handlers<typeof jobRoutes> {
  const { database, disputes, streams } = services;
  return {
    getJobs: ({ session: { wallet }, query }) => listJobs(database, wallet, query),
    getJobsCsv({ session: { wallet }, query, response }) {
      return writeJobsCsv(response, readPages(database, filterOf(wallet, query), query));
    },
    async getJob({ session: { wallet }, params: { job_id: jobId } }) {
      const found = await selectConsoleJob(database, { wallet, jobId });
      const [job] = await viewJobs(database, found ? [found] : []);
      if (!job) throw new ApiError('job_not_found', 'The wallet has no such job.');
      return job;
    },
    async disputeJob({ session: { wallet }, params, body }) {
      return disputes.open({
        wallet,
        jobId: params.job_id,
        clientHash: body.received_output_hash,
      });
    },
    getStream({ session: { wallet, id: sessionId }, request, response }) {
      const resumeAfter = request.get('last-event-id');
      const address = addressOf(request);
      return streams.open({ wallet, sessionId, address, resumeAfter }, response);
    },
    postCompletion: (call) => complete(services, call),
  };
}

/** One page of the wallet's jobs. @throws ApiError `invalid_request` where a cursor names none */
async function listJobs(
  database: Database,
  wallet: string,
  query: Call<(typeof jobRoutes)['getJobs']>['query'],
): Promise<ConsoleJobList> {
  const { id, limit } = query;
  if (id !== undefined) {
    const job = await selectConsoleJob(database, { wallet, jobId: id });
    const data = await viewJobs(database, job ? [job] : []);
    return { object: 'list', data, has_more: false, next_cursor: null };
  }
  const [before, after] = await Promise.all([
    cursorOf(database, wallet, { param: 'before', jobId: query.before }),
    cursorOf(database, wallet, { param: 'after', jobId: query.after }),
  ]);
  const goesForward = after !== undefined && before === undefined;
  const range = {
    after: laterOf(after, startOf(query.since)),
    before: earlierOf(before, startOf(query.until)),
    order: goesForward ? 'asc' : 'desc',
    rows: limit + 1,
  } as const;
  const rows = await selectJobRange(database, filterOf(wallet, query), range, SELECTED);
  const { page, ...more } = pageOf(rows, limit, ({ job_id }) => job_id);
  const data = await viewJobs(database, goesForward ? page.toReversed() : page);
  return { object: 'list', data, ...more };
}

/** @throws ApiError `invalid_request` where the wallet has no such job */
async function cursorOf(
  database: Database,
  wallet: string,
  { param, jobId }: { param: 'before' | 'after'; jobId: string | undefined },
): Promise<JobCursor | undefined> {
  if (jobId === undefined) return undefined;
  const job = await selectConsoleJob(database, { wallet, jobId });
  if (job) return job;
  throw new ApiError('invalid_request', `'${param}' names no job of this wallet.`, { param });
}

/** A completion of the playground, under the wallet's key. */
async function complete(
  { database, completions, identify, keys, gateway }: JobServices,
  call: Call<(typeof jobRoutes)['postCompletion']>,
): Promise<void> {
  const { session, body, request, response } = call;
  const { wallet } = session;
  const key = await selectLiveKey(database, wallet);
  if (!key) {
    await asApiError(assertNotSuspended(database, wallet));
    throw new ApiError('key_not_found', 'Make an API key first: jobs run under it.');
  }
  // As for every request of /v1: a suspension holds at once.
  const payer = await keys.admit(key.key_sha256);
  assertSpender(payer, gateway);
  const identity = identify({
    wallet,
    // Seals the copy of the answer: a secret of this session, which we do not keep either.
    apiKey: readSessionCookie(request) ?? '',
    rawBody: rawBodyOf(request),
    idempotencyKey: request.get('idempotency-key'),
    retryCount: undefined,
  });
  await completions.complete({ payer, identity, request: body, response });
}

const SELECTED = { columns: consoleJobColumns } as { columns: string; row?: ConsoleJobRow };

const CSV_PAGE = 1_000;
const CSV_PAGES_MAX = 100;

/** Newest first, page by page. */
async function* readPages(
  database: Database,
  filter: JobFilter,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): AsyncGenerator<ConsoleJobRow[]> {
  let before = startOf(until);
  for (let page = 0; page < CSV_PAGES_MAX; page += 1) {
    const range = { after: startOf(since), before, order: 'desc', rows: CSV_PAGE } as const;
    const rows = await selectJobRange(database, filter, range, SELECTED);
    yield rows;
    before = rows.at(-1);
    if (rows.length < CSV_PAGE) return;
  }
}

type JobQuery = Pick<Call<(typeof jobRoutes)['getJobsCsv']>['query'], 'status' | 'model'>;

function filterOf(wallet: string, { status, model }: JobQuery): JobFilter {
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
