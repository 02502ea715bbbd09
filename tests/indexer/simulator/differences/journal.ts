import type { Database } from '../../../../common/postgres.ts';
import type { SimulatedLedger } from '../ledger/simulatedLedger.ts';
import { describeDifferences } from './describeDifferences.ts';

/** The journal should hold what succeeded on the ledger, event by event, all folded and final. */
export async function compareJournal(
  database: Database,
  ledger: SimulatedLedger,
): Promise<string[]> {
  const { rows } = await database.query<{ signature: string }>(
    `select signature, transactions.slot, commitment, coalesce(
       jsonb_agg(
         jsonb_build_object('name', event_name, 'data', data, 'folded', folded)
         order by instruction_index
       ) filter (where event_name is not null),
       '[]'
     ) as events
     from transactions left join journal using (signature) group by signature`,
  );
  const stored = new Map(rows.map(({ signature, ...row }) => [signature, row]));
  const succeeded = ledger.transactions.filter(({ failed }) => !failed);
  const landed = new Map(
    succeeded.map(({ signature, slot, events }) => [
      signature,
      {
        slot,
        commitment: 'finalized',
        events: events.map((event) => ({ ...event, folded: true })),
      },
    ]),
  );
  return describeDifferences(stored, landed);
}

/** Both cursors should be where the ledger is. */
export async function compareCursors(
  database: Database,
  { slot }: SimulatedLedger,
): Promise<string[]> {
  const { rows } = await database.query<{ name: string; slot: bigint }>('select * from cursors');
  const found = new Map(rows.map((row) => [row.name, row.slot]));
  return describeDifferences(
    found,
    new Map([
      ['confirmed', slot],
      ['finalized', slot],
    ]),
  );
}
