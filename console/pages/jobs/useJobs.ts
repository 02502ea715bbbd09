import { isoTime } from '../../data/fieldTime.ts';
import { usePages } from '../../data/queries.ts';
import type { JobFilters } from '../../session/useLiveWallet.ts';

const JOB_ID = /^job_[0-9a-f]{32}$/;
const PAGE_ROWS = 100;

/** When jobs were locked: from, and before. */
export type JobTimes = Pick<JobFilters, 'since' | 'until'>;

/** What stands in the page's address as the API takes it. */
function queryOf(filters: JobFilters): JobFilters {
  const { id, status, model, since, until } = filters;
  const times = { since: since && isoTime(since), until: until && isoTime(until) };
  return { id, status, model, ...times };
}

/** The wallet's jobs that fit, newest first; the stream keeps them new. */
export function useJobs(filters: JobFilters) {
  const query = queryOf(filters);
  const isIdWrong = query.id !== undefined && !JOB_ID.test(query.id);
  const list = usePages('/jobs', { query, pageRows: PAGE_ROWS, enabled: !isIdWrong });
  return { query, isIdWrong, ...list };
}
