import type { Database } from '../../common/postgres.ts';
import type { LedgerEvent } from '../decode.ts';
import { eventOf, type JournalRow, journalColumns } from './journalRow.ts';

/** An event that the tables hold, as one of the accounts that it changed has it. */
export interface FoldedEvent {
  readonly address: string;
  readonly sequence: bigint;
  readonly event: LedgerEvent;
}

/** The folded events by account and sequence, after a place among them; a page at a time. */
export async function selectFoldedEvents(
  database: Database,
  after: { address: string; sequence: bigint },
  limit: number,
): Promise<FoldedEvent[]> {
  const { rows } = await database.query<JournalRow & { address: string; sequence: bigint }>(
    `
      select change.address, change.sequence, ${journalColumns}
      from account_changes change
      join journal using (signature, instruction_index, inner_index)
      where folded and (change.address, change.sequence) > ($1, $2)
      order by change.address, change.sequence limit $3`,
    [after.address, after.sequence, limit],
  );
  return rows.map((row) => ({
    address: row.address,
    sequence: row.sequence,
    event: eventOf(row),
  }));
}
