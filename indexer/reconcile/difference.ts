import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { RetryableError } from '../source/errors.ts';
import { MIRROR_SCHEMA } from '../sql/schema.ts';

/**
 * Lets `work` read the mirror as it is at one moment, however long it takes.
 *
 * @throws RetryableError when a rebuild has replaced the mirror: its names then lead to new tables,
 *   which that moment shows in part at most
 */
export function inSnapshot<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    await client.query(`set local search_path = ${MIRROR_SCHEMA}`);
    const schema = await selectSchema(client);
    const result = await work(client);
    if (schema === (await selectSchema(client))) return result;
    throw new RetryableError('The mirror was replaced while it was read');
  });
}

/** Distinguishes the mirror's schema from another one of its name. */
async function selectSchema(database: Database): Promise<number | undefined> {
  const { rows } = await database.query<{ oid: number }>(
    `select '${MIRROR_SCHEMA}'::regnamespace::oid as oid`,
  );
  return rows[0]?.oid;
}

/** A value that a table should not have; null where either side has no row or no value. */
export interface Difference {
  /** The program's accounts, a fold of the journal, or for hours of usage the table of jobs. */
  readonly against: 'ledger' | 'journal' | 'jobs';
  readonly address: string;
  /** `sequence` when one side lacks changes; then no other column was compared. */
  readonly column: string;
  readonly mirror: string | null;
  readonly expected: string | null;
}

/** An account as a row of the mirror, or what that row should be. */
export interface ComparedRow {
  readonly sequence: bigint;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Compares every column that `expected` names, or the sequences alone where they differ. */
export function compareRows(
  place: Pick<Difference, 'against' | 'address'>,
  found: ComparedRow | undefined,
  expected: ComparedRow | undefined,
): Difference[] {
  if (found?.sequence !== expected?.sequence) {
    return [
      {
        ...place,
        column: 'sequence',
        mirror: text(found?.sequence),
        expected: text(expected?.sequence),
      },
    ];
  }
  return Object.entries(expected?.values ?? {}).flatMap(([column, value]) => {
    const mirror = text(found?.values[column]);
    return mirror === text(value) ? [] : [{ ...place, column, mirror, expected: text(value) }];
  });
}

/** Numbers come in several types, and are compared by their digits. */
function text(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
