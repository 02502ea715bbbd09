import type { Database } from '../../runtime/postgres.ts';

/** @returns false when the transaction is stored already */
export async function insertTransaction(
  database: Database,
  transaction: { signature: string; slot: bigint },
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'insert_transaction',
    text: `
      insert into transactions (signature, slot) values ($1, $2)
      on conflict do nothing`,
    values: [transaction.signature, transaction.slot],
  });
  return rowCount === 1;
}
