import type { Database } from '../../common/postgres.ts';
import { MIRROR_SCHEMA } from '../mirrorSchema.ts';

/** How far the mirror has come that readers see; 0 before its first sweep. */
export async function selectServedCursor(database: Database): Promise<bigint> {
  const { rows } = await database.query<{ slot: bigint }>(
    `select slot from ${MIRROR_SCHEMA}.cursors where name = 'confirmed'`,
  );
  return rows[0]?.slot ?? 0n;
}
