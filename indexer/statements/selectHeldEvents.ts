import type { Database } from '../../common/postgres.ts';
import type { LedgerEvent } from '../decode.ts';
import { eventOf, type JournalRow, journalColumns } from './journalRow.ts';

/** Events not folded yet that are the next change of one of the accounts, given their sequences. */
export async function selectHeldEvents(
  database: Database,
  sequences: ReadonlyMap<string, bigint>,
): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>({
    name: 'select_held_events',
    text: `
      select distinct on (slot, signature, instruction_index, inner_index) ${journalColumns}
      from unnest($1::text[], $2::numeric[]) as advanced (address, sequence)
      join account_changes change
        on change.address = advanced.address and change.sequence = advanced.sequence + 1
      join journal using (signature, instruction_index, inner_index)
      where not folded
      order by slot, signature, instruction_index, inner_index`,
    values: [[...sequences.keys()], [...sequences.values()]],
  });
  return rows.map(eventOf);
}
