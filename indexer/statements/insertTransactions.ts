import type { Database } from '../../common/postgres.ts';

/** @returns how many were not stored before */
export async function insertTransactions(
  database: Database,
  transactions: readonly { signature: string; slot: bigint }[],
): Promise<number> {
  const { rowCount } = await database.query({
    name: 'insert_transactions',
    text: `
      insert into transactions (signature, slot) select * from unnest($1::text[], $2::bigint[])
      on conflict do nothing`,
    values: [transactions.map(({ signature }) => signature), transactions.map(({ slot }) => slot)],
  });
  return rowCount ?? 0;
}
