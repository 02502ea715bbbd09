import { POLL_MS } from '../../data/queries.ts';
import { isoTime } from '../../data/useFilters.ts';
import { usePages } from '../../data/usePages.ts';

const JOB_ID = /^job_[0-9a-f]{32}$/;
const PAGE_ROWS = 100;

type JobFilter = 'id' | 'status' | 'model' | 'since' | 'until';
export type JobFilters = { readonly [Name in JobFilter]?: string | undefined };

/** When jobs were locked: from, and before. */
export type JobTimes = Pick<JobFilters, 'since' | 'until'>;

/** What stands in the page's address as the API takes it. */
function queryOf(filters: JobFilters): JobFilters {
  const { id, status, model, since, until } = filters;
  const times = { since: since && isoTime(since), until: until && isoTime(until) };
  return { id, status, model, ...times };
}

/** The wallet's jobs that fit, newest first. */
export function useJobs(filters: JobFilters) {
  const query = queryOf(filters);
  const isIdWrong = query.id !== undefined && !JOB_ID.test(query.id);
  const list = usePages('/jobs', {
    query,
    pageRows: PAGE_ROWS,
    keyOfRow: ({ id }) => id,
    everyMs: POLL_MS.changes,
    enabled: !isIdWrong,
  });
  return { query, isIdWrong, ...list };
}
