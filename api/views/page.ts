/**
 * One page of a list.
 *
 * @param rows one more than it shows, where there are more
 * @param cursorOf where the next page begins behind a row
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { page: Row[]; has_more: boolean; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const has_more = rows.length > page.length;
  return { page, has_more, next_cursor: has_more && last ? cursorOf(last) : null };
}
