import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { call } from '../../data/request.ts';
import type { JobFilters } from '../../session/useLiveWallet.ts';

const JOB_ID = /^job_[0-9a-f]{32}$/;
const PAGE = '100';

/** What stands in the page's address as the API takes it: days are those of UTC. */
function queryOf(filters: JobFilters): JobFilters {
  const { id, status, model, since, until } = filters;
  const startOf = (day: string) => `${day}T00:00:00Z`;
  return {
    ...(id && { id }),
    ...(status && { status }),
    ...(model && { model }),
    ...(since && { since: startOf(since) }),
    ...(until && { until: startOf(until) }),
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
