import type { Database } from '../../common/postgres.ts';

/**
 * Whether any event waits in the journal for a change before it.
 *
 * Ordered, so that the index of what waits is read, however little the server knows of the journal.
 */
export async function hasHeldEvents(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(
    'select from journal where not folded order by slot limit 1',
  );
  return rowCount === 1;
}
