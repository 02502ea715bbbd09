import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { keyOf, mayRetry, polled, type Read, type ReadOptions, useAsRead } from './queries.ts';
import { type AnswerOf, call, type PathOf } from './request.ts';

/** A list that has grown longer is read again to there alone. */
const AGAIN_ROWS_MAX = 1_000;

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

interface PageAnswer<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

interface Pages<Row> extends Read<unknown> {
  /** Of all pages that were read; undefined before the first one is. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

/**
 * Reads a list of the API page by page, newest first. By itself it reads its first page alone again,
 * and keeps the older rows; after a change or a failure it reads these too.
 *
 * @param options.keyOfRow names a row for good
 * @param options.pageRows rows of a page
 */
export function usePages<Path extends ListPath>(
  path: Path,
  options: Omit<ReadOptions, 'params'> & {
    readonly keyOfRow: (row: RowOf<Path>) => string;
    readonly pageRows?: number;
  },
): Pages<RowOf<Path>> {
  type Page = PageAnswer<RowOf<Path>>;
  const { query = {}, everyMs, enabled, pageRows, keyOfRow } = options;
  const client = useQueryClient();
  const queryKey = keyOf(path, { query });
  const readPage = (before?: string, signal?: AbortSignal) =>
    call('GET', path, {
      query: { ...query, limit: pageRows, before },
      signal,
    } as never) as Promise<Page>;
  const known = () => client.getQueryData<Page>(queryKey);
  const list = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Page> => {
      const isOld = client.getQueryState(queryKey)?.isInvalidated;
      const rowsMin = isOld ? Math.min(known()?.data.length ?? 0, AGAIN_ROWS_MAX) : 0;
      let page = await readPage(undefined, signal);
      while (page.next_cursor !== null && page.data.length < rowsMin) {
        page = followedBy(page, await readPage(page.next_cursor, signal));
      }
      return withOlder(page, known(), keyOfRow);
    },
    placeholderData: keepPreviousData,
    ...polled(everyMs),
    ...(enabled !== undefined && { enabled }),
  });
  const more = useMutation({
    mutationFn: async (before: string) => {
      const page = await readPage(before);
      client.setQueryData<Page>(queryKey, (now) =>
        now?.next_cursor === before ? followedBy(now, page) : now,
      );
    },
    retry: mayRetry,
  });
  const read = useAsRead(list, queryKey);
  const before = list.isPlaceholderData ? null : (list.data?.next_cursor ?? null);
  return {
    ...read,
    error: read.error ?? more.error,
    refetch: () => {
      more.reset();
      return read.refetch();
    },
    rows: list.data?.data,
    hasMore: before !== null,
    isReadingMore: more.isPending,
    readMore: () => {
      if (before !== null && !more.isPending) more.mutate(before);
    },
  };
}

const followedBy = <Row>(newer: PageAnswer<Row>, older: PageAnswer<Row>): PageAnswer<Row> => ({
  data: [...newer.data, ...older.data],
  next_cursor: older.next_cursor,
});

/** The first page with the older rows that are known. Where it does not reach them, the list begins again. */
function withOlder<Row>(
  first: PageAnswer<Row>,
  known: PageAnswer<Row> | undefined,
  keyOfRow: (row: Row) => string,
): PageAnswer<Row> {
  const end = first.data.at(-1);
  if (first.next_cursor === null || end === undefined || known === undefined) return first;
  const place = known.data.findIndex((row) => keyOfRow(row) === keyOfRow(end));
  return place < 0 ? first : followedBy(first, { ...known, data: known.data.slice(place + 1) });
}
