import type { Database } from '../../common/postgres.ts';

/** Notes which transactions the ledger will never take back. */
export async function markFinalized(
  database: Database,
  signatures: readonly string[],
): Promise<void> {
  await database.query({
    text: `
      update transactions set commitment = 'finalized'
      where signature = any($1) and commitment = 'confirmed'`,
    values: [signatures],
  });
}

/** The oldest transactions up to a slot that are not known to be final. */
export async function selectUnfinalized(
  database: Database,
  query: { slotMax: bigint; limit: number },
): Promise<{ signature: string; slot: bigint }[]> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: `
      select signature, slot from transactions
      where commitment = 'confirmed' and slot <= $1
      order by slot limit $2`,
    values: [query.slotMax, query.limit],
  });
  return rows;
}
