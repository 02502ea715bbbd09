import { keepPreviousData, QueryCache, QueryClient, useQuery } from '@tanstack/react-query';
import { type AnswerOf, call, type PathOf, RequestError } from './request.ts';
import { noteEndedSession } from './sessionEnd.ts';

const RETRIES_MAX = 2;
const STALE_MS = 5_000;

/** A refusal stays one however often it is asked for. */
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

/** Reads a GET route, and shows what was there before while its query changes. */
export function useRead<Path extends PathOf<'GET'>>(path: Path, options: ReadOptions = {}) {
  const { params, query, everyMs, enabled } = options;
  return useQuery({
    queryKey: keyOf(path, options),
    queryFn: ({ signal }): Promise<AnswerOf<'GET', Path>> =>
      call('GET', path, { params, query, signal } as never),
    placeholderData: keepPreviousData,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(enabled !== undefined && { enabled }),
  });
}
