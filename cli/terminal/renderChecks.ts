import Table from 'cli-table3';
import type { Check, Place, Verdict } from '../../programs/client/verify/check.ts';
import { COMPACT } from './output.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  holds: 'holds',
  fails: 'FAILS',
  not_checkable: 'NOT CHECKABLE',
  not_applicable: 'not applicable',
};
/** Wide enough for a hash or an address in one line. */
const DETAIL_COLUMNS = 76;

/**
 * The checks as a table, and below it what they come to.
 *
 * @param transactions the transactions behind the checks. The table names them by number, because a
 *   signature is longer than a column
 * @param below a line each
 */
export function renderChecks(
  checks: readonly Check[],
  transactions: readonly Place[],
  below: readonly string[],
): string {
  const numbers = new Map(transactions.map(({ signature }, index) => [signature, index + 1]));
  const table = new Table({
    head: ['check', 'result', 'found', ...(numbers.size > 0 ? ['in'] : [])],
    style: COMPACT,
    colWidths: [null, null, DETAIL_COLUMNS],
    wordWrap: true,
  });
  for (const { name, verdict, detail, evidence } of checks) {
    const places = evidence.map(({ signature }) => numbers.get(signature)).join(' ');
    table.push([name, WORDS[verdict], detail, ...(numbers.size > 0 ? [places] : [])]);
  }
  return [table.toString(), ...below].join('\n');
}

export function renderTransactions(
  transactions: readonly (Place & { events: readonly string[] })[],
): string {
  const table = new Table({ head: ['', 'slot', 'transaction', 'events'], style: COMPACT });
  transactions.forEach(({ signature, slot, events }, index) => {
    table.push([index + 1, slot.toString(), signature, events.join(', ')]);
  });
  return table.toString();
}

/** JSON with 64-bit integers as strings, and keys in base58. */
export function renderJson(report: object): string {
  return JSON.stringify(
    report,
    (_field, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
    2,
  );
}
