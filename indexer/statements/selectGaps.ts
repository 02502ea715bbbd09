import type { Database } from '../../common/postgres.ts';

/** An account with an event that waits for a change which is not in the journal. */
export interface Gap {
  readonly address: string;
  /** Of the account's last change before the missing one; 0 where its first one is missing. */
  readonly slot: bigint;
}

export async function selectGaps(database: Database): Promise<Gap[]> {
  const { rows } = await database.query<Gap>(`
      select distinct waiting.address, coalesce((
        select journal.slot
        from account_changes folded
        join journal using (signature, instruction_index, inner_index)
        where folded.address = waiting.address and folded.sequence = reached.sequence
          and journal.folded
      ), 0) as slot
      from journal
      join account_changes waiting using (signature, instruction_index, inner_index)
      left join sequences reached on reached.address = waiting.address
      where not folded
        and waiting.sequence > coalesce(reached.sequence, 0) + 1
        and not exists (
          select from account_changes present
          where present.address = waiting.address
            and present.sequence = coalesce(reached.sequence, 0) + 1
        )`);
  return rows;
}
