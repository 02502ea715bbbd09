import Table from 'cli-table3';
import {
  type Check,
  conclude,
  type Place,
  type Verdict,
} from '../../programs/client/verify/check.ts';
import { COMPACT } from './output.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  holds: 'holds',
  fails: 'FAILS',
  not_checkable: 'NOT CHECKABLE',
  not_applicable: 'not applicable',
};
const CONCLUSIONS = {
  holds: 'Everything that applies holds.',
  fails: 'The ledger contradicts what should hold.',
  not_checkable: 'There is no contradiction, but evidence is missing: this proves nothing.',
} as const;
/** When only the comparison with the given text or receipt fails. */
const GIVEN_DIFFERS = 'The text or the receipt that you gave is not what the ledger records.';
const OF_GIVEN = /^delivery\./;
/** Wide enough for a hash or an address in one line. */
const DETAIL_COLUMNS = 76;

/**
 * The checks as a table, and the conclusion.
 *
 * @param transactions the transactions behind the checks. The table names them by number, because a
 *   signature is longer than a column
 * @param note a line between them
 */
export function renderChecks(
  checks: readonly Check[],
  transactions: readonly Place[],
  note = '',
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
  return [table.toString(), ...(note ? [note] : []), conclusionOf(checks)].join('\n');
}

function conclusionOf(checks: readonly Check[]): string {
  const failed = checks.filter(({ verdict }) => verdict === 'fails');
  const isOnlyOfGiven = failed.length > 0 && failed.every(({ name }) => OF_GIVEN.test(name));
  return isOnlyOfGiven ? GIVEN_DIFFERS : CONCLUSIONS[conclude(checks)];
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
