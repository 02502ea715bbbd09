const DAY_MS = 86_400_000;

/** The last days of UTC up to now, oldest first; undefined where there is no row. */
export function lastDays<Row extends { readonly day: string }>(
  rows: readonly Row[],
  count: number,
  nowMs: number,
): (Row | undefined)[] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return Array.from({ length: count }, (_, index) =>
    byDay.get(new Date(nowMs - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10)),
  );
}
