import type { Database } from '../../common/postgres.ts';

/** Accounts in the tables that no event of the journal is about. */
export async function selectUnexplained(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ address: string }>(`
      select address from sequences
      where not exists (
        select from account_changes where account_changes.address = sequences.address
      )
      order by address`);
  return rows.map(({ address }) => address);
}
