import type { Database } from '../../runtime/postgres.ts';

/** Accounts with an event that waits for a change which is not in the journal. */
export async function selectGaps(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ address: string }>(`
      select distinct waiting.address
      from mirror.journal
      join mirror.account_changes waiting using (signature, instruction_index, inner_index)
      left join mirror.sequences reached on reached.address = waiting.address
      where not folded
        and waiting.sequence > coalesce(reached.sequence, 0) + 1
        and not exists (
          select from mirror.account_changes present
          where present.address = waiting.address
            and present.sequence = coalesce(reached.sequence, 0) + 1
        )`);
  return rows.map(({ address }) => address);
}
