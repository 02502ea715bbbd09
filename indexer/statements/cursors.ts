import type { Database } from '../../common/postgres.ts';
import type { Commitment } from '../source/source.ts';

/** The slot before which a sweep has stored everything; 0 before the first one. */
export async function selectCursor(database: Database, name: Commitment): Promise<bigint> {
  const { rows } = await database.query<{ slot: bigint }>({
    name: 'select_cursor',
    text: 'select slot from cursors where name = $1',
    values: [name],
  });
  return rows[0]?.slot ?? 0n;
}

/** Moves cursors ahead, together; none goes back. */
export async function moveCursors(
  database: Database,
  names: readonly Commitment[],
  slot: bigint,
): Promise<void> {
  await database.query({
    name: 'move_cursors',
    text: `
      insert into cursors (name, slot) select unnest($1::text[]), $2
      on conflict (name) do update set slot = greatest(cursors.slot, excluded.slot)`,
    values: [names, slot],
  });
}
