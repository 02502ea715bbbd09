import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { call } from '../../data/request.ts';
import type { JobFilters } from '../../session/useLiveWallet.ts';

const JOB_ID = /^job_[0-9a-f]{32}$/;
const PAGE = '100';

/** When jobs were locked: from, and before. */
export type JobTimes = Pick<JobFilters, 'since' | 'until'>;

/** A day or minute of UTC, as it stands in the page's address and in a field. */
export const fieldTime = (time: string | undefined) =>
  time?.replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00').replace(/(T\d\d:\d\d).*$/, '$1') ?? '';

/** What stands in the page's address as the API takes it. */
function queryOf(filters: JobFilters): JobFilters {
  const { id, status, model, since, until } = filters;
  const isoTime = (time: string) => `${fieldTime(time)}:00Z`;
  return {
    ...(id && { id }),
    ...(status && { status }),
    ...(model && { model }),
    ...(since && { since: isoTime(since) }),
    ...(until && { until: isoTime(until) }),
  };
}

/** The wallet's jobs that fit, newest first; the stream keeps them new. */
export function useJobs(filters: JobFilters) {
  const query = queryOf(filters);
  const isIdWrong = query.id !== undefined && !JOB_ID.test(query.id);
  const list = useInfiniteQuery({
    queryKey: ['/jobs', query],
    queryFn: ({ pageParam, signal }) =>
      call('GET', '/jobs', {
        query: {
          ...query,
          status: query.status as ConsoleJob['status'] | undefined,
          limit: PAGE,
          before: pageParam || undefined,
        },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled: !isIdWrong,
  });
  return {
    query,
    isIdWrong,
    jobs: list.data?.pages.flatMap(({ data }) => data),
    error: list.error,
    isLoading: list.isLoading,
    hasMore: list.hasNextPage,
    readMore: () => {
      if (!list.isFetchingNextPage) void list.fetchNextPage();
    },
    retry: () => void list.refetch(),
  };
}
