import type { Database } from '../../runtime/postgres.ts';
import type { LedgerEvent } from '../decode.ts';
import { eventOf, type JournalRow, journalColumns } from './journalRow.ts';

/** An account's folded events, in the order of its sequence. */
export async function selectAccountEvents(
  database: Database,
  address: string,
): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `
      select ${journalColumns}
      from account_changes
      join journal using (signature, instruction_index, inner_index)
      where address = $1 and folded
      order by account_changes.sequence`,
    [address],
  );
  return rows.map(eventOf);
}
