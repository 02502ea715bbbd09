import {
  hashKey,
  keepPreviousData,
  type Query,
  QueryCache,
  QueryClient,
  type UseBaseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { type AnswerOf, call, type PathOf, RequestError } from './request.ts';
import { isSessionOver, noteEndedSession } from './sessionEnd.ts';

const RETRIES_MAX = 2;
const STALE_MS = 5_000;

/** How often a page that is seen asks again, in milliseconds: for what changes, and for sums of it. */
export const POLL_MS = { changes: 3_000, sums: 15_000 } as const;

/** The API refuses the same request again, so only other failures are retried. */
export function mayRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof RequestError && error.status < 500;
  return !isRefused && failures < RETRIES_MAX;
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: noteEndedSession }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        retry: mayRetry,
        // A page that is not seen asks for nothing. What is old is read again once it is seen.
        refetchIntervalInBackground: false,
        refetchOnReconnect: () => !document.hidden,
      },
      // Offline one fails at once, so that nothing is sent later that its owner has forgotten.
      mutations: { networkMode: 'always', onError: noteEndedSession },
    },
  });
}

export interface ReadOptions {
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

/** Has what was read under these paths, or all of it, read again: now, or once the page is seen. */
export async function readAgain(client: QueryClient, paths?: readonly string[]): Promise<void> {
  const refetchType = document.hidden ? 'none' : 'active';
  const keys = paths?.map((path) => [path]) ?? [[]];
  await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey, refetchType })));
}

/**
 * A read that repeats every few seconds is not retried in between: the page shows the failure. It
 * ends with the session, and goes on after a new sign-in.
 */
export function polled(everyMs: number | undefined) {
  if (everyMs === undefined) return {};
  const refetchInterval = ({ state }: Pick<Query, 'state'>) =>
    !isSessionOver(state.error) && everyMs;
  return { refetchInterval, retry: false };
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
