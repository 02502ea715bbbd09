import {
  hashKey,
  keepPreviousData,
  QueryCache,
  QueryClient,
  type UseBaseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { type AnswerOf, call, type PathOf, RequestError } from './request.ts';
import { noteEndedSession } from './sessionEnd.ts';

const RETRIES_MAX = 2;
const STALE_MS = 5_000;

/** The API refuses the same request again, so only other failures are retried. */
function mayRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof RequestError && error.status < 500;
  return !isRefused && failures < RETRIES_MAX;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: noteEndedSession }),
    defaultOptions: {
      queries: { staleTime: STALE_MS, retry: mayRetry },
      mutations: { onError: noteEndedSession },
    },
  });
}

interface ReadOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  /** How often to read it again, in milliseconds. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
}

/** The key under which the answer of a GET route is kept. */
export function keyOf(path: PathOf<'GET'>, options: ReadOptions = {}) {
  return [path, options.params ?? {}, options.query ?? {}] as const;
}

/** A read that repeats every few seconds is not retried in between: the page shows the failure. */
function polled(everyMs: number | undefined) {
  return everyMs === undefined ? {} : { refetchInterval: everyMs, retry: false };
}

/** What is known of something that is read. */
export interface Read<Answer> {
  readonly data: Answer | undefined;
  /** Why there is no newer answer at present. It stays until one comes, while it is asked for too. */
  readonly error: Error | null;
  /** The first answer is on its way. */
  readonly isLoading: boolean;
  readonly refetch: () => unknown;
}

/** Reads a GET route, and shows what was there before while its query changes. */
export function useRead<Path extends PathOf<'GET'>>(
  path: Path,
  options: ReadOptions = {},
): Read<AnswerOf<'GET', Path>> {
  const { params, query, everyMs, enabled } = options;
  const queryKey = keyOf(path, options);
  const result = useQuery({
    queryKey,
    queryFn: ({ signal }): Promise<AnswerOf<'GET', Path>> =>
      call('GET', path, { params, query, signal } as never),
    placeholderData: keepPreviousData,
    ...polled(everyMs),
    ...(enabled !== undefined && { enabled }),
  });
  return useAsRead(result, queryKey);
}

/** Routes whose answer is one page of a list, with where the next one begins. */
type ListPath = {
  [Path in PathOf<'GET'>]: AnswerOf<'GET', Path> extends {
    data: readonly unknown[];
    next_cursor: string | null;
  }
    ? Path
    : never;
}[PathOf<'GET'>];
type RowOf<Path> = AnswerOf<'GET', Path> extends { data: readonly (infer Row)[] } ? Row : never;

interface PageAnswer {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

interface Pages<Row> extends Read<unknown> {
  /** Of all pages that were read; undefined before the first one is. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

/** Reads a list of the API page by page, newest first. @param options.pageRows rows of a page */
export function usePages<Path extends ListPath>(
  path: Path,
  options: Omit<ReadOptions, 'params'> & { readonly pageRows?: number } = {},
): Pages<RowOf<Path>> {
  const { query = {}, everyMs, enabled, pageRows } = options;
  const queryKey = [path, query];
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call('GET', path, {
        query: { ...query, limit: pageRows, before: pageParam || undefined },
        signal,
      } as never) as Promise<PageAnswer>,
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    ...polled(everyMs),
    ...(enabled !== undefined && { enabled }),
  });
  return {
    ...useAsRead(list, queryKey),
    rows: list.data?.pages.flatMap(({ data }) => data as readonly RowOf<Path>[]),
    hasMore: list.hasNextPage,
    isReadingMore: list.isFetchingNextPage,
    readMore: () => {
      if (!list.isFetchingNextPage) void list.fetchNextPage();
    },
  };
}

/**
 * The state of a query. While a query without an answer is repeated, it has no error. A page that polls
 * would show that it reads for ever, so the last error is kept.
 */
export function useAsRead<Answer>(
  result: UseBaseQueryResult<Answer>,
  queryKey: readonly unknown[],
): Read<Answer> {
  const key = hashKey(queryKey);
  const held = useRef<{ readonly key: string; readonly error: Error }>(undefined);
  // Only these fields: a component that uses all of a result is drawn again for each change.
  const { data, refetch } = result;
  // The first failure counts where nothing is shown yet, though it is asked again by itself.
  const failure = result.error ?? (data === undefined ? result.failureReason : null);
  if (failure !== null) held.current = { key, error: failure };
  else if (data !== undefined && !result.isPlaceholderData) held.current = undefined;
  const error = held.current?.key === key ? held.current.error : null;
  return { data, error, isLoading: error === null && result.isLoading, refetch };
}
