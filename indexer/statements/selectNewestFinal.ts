import type { Database } from '../../common/postgres.ts';

/** The newest transaction that is final, of those before a slot where one is given. */
export async function selectNewestFinal(
  database: Database,
  before: bigint | undefined,
): Promise<{ signature: string; slot: bigint } | undefined> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: `
      select signature, slot from transactions
      where commitment = 'finalized' and slot < coalesce($1::bigint, 9223372036854775807)
      order by slot desc limit 1`,
    values: [before],
  });
  return rows[0];
}
