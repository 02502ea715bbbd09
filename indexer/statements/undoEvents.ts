import type { Database } from '../../runtime/postgres.ts';
import type { LedgerEvent } from '../decode.ts';
import { eventOf, type JournalRow, journalColumns } from './journalRow.ts';

/**
 * Marks a transaction's events as not folded, and with them every event that was folded on top of
 * them, through whatever accounts they share.
 *
 * @returns the events whose changes the tables must lose
 */
export async function undoEvents(database: Database, signature: string): Promise<LedgerEvent[]> {
  const { rows } = await database.query<JournalRow>(
    `
      with recursive undone (signature, instruction_index, inner_index) as (
        select signature, instruction_index, inner_index
        from journal where signature = $1 and folded
        union
        select later.signature, later.instruction_index, later.inner_index
        from undone
        join account_changes change using (signature, instruction_index, inner_index)
        join account_changes later
          on later.address = change.address and later.sequence > change.sequence
        join journal event
          on event.signature = later.signature
          and event.instruction_index = later.instruction_index
          and event.inner_index = later.inner_index
        where event.folded
      )
      update journal set folded = false
      where (signature, instruction_index, inner_index) in (select * from undone)
      returning ${journalColumns}`,
    [signature],
  );
  return rows.map(eventOf);
}
