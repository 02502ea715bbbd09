import Table from 'cli-table3';
import { InvalidArgumentError } from 'commander';

/** An error that the caller of the command can correct; the message says how. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** No colours: the output may go to a file. */
export const PLAIN = { head: [], border: [] };

/** The same, without lines between the rows. */
export const COMPACT = { ...PLAIN, compact: true };

/** The layout of one table takes quadratic time. */
const ROWS_MAX = 1_000;

/** Any number of rows under one head, as one table or more, each with the head. */
export function renderRows(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const tables: string[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += ROWS_MAX) {
    const table = new Table({ head: [...head], style: PLAIN });
    for (const row of rows.slice(from, from + ROWS_MAX)) table.push([...row]);
    tables.push(table.toString());
  }
  return tables.join('\n');
}

/** Parses an option's whole number. */
export function within(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
