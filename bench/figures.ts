import Table from 'cli-table3';

/** The percentile: the smallest value that this share of the values does not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}

/** An empty table without colours: the output may go to a file. */
export const tableOf = (head: string[]) => new Table({ head, style: { head: [], border: [] } });
