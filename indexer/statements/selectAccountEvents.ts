import type { Database } from '../../common/postgres.ts';
import type { LedgerEvent } from '../decode.ts';
import { eventOf, type JournalRow, journalColumns } from './journalRow.ts';

const PAGE = 1_000;

/**
 * An account's folded events, in the order of its sequence. A page at a time: the treasury's
 * history is as long as the ledger's.
 */
export async function* selectAccountEvents(
  database: Database,
  address: string,
): AsyncGenerator<LedgerEvent[]> {
  let after = 0n;
  for (;;) {
    const { rows } = await database.query<JournalRow & { sequence: bigint }>(
      `
        select account_changes.sequence, ${journalColumns}
        from account_changes
        join journal using (signature, instruction_index, inner_index)
        where address = $1 and account_changes.sequence > $2 and folded
        order by account_changes.sequence limit $3`,
      [address, after, PAGE],
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(eventOf);
    after = last.sequence;
  }
}
