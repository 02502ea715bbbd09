import type { Database } from '../../common/postgres.ts';
import type { Change } from '../apply/change.ts';
import type { LedgerEvent } from '../decode.ts';

/** Writes events to the journal, each with the changes that it stands for. */
export async function insertEvents(
  database: Database,
  entries: readonly { event: LedgerEvent; changes: readonly Change[]; folded: boolean }[],
): Promise<void> {
  const events = entries.map(({ event, folded }) => ({
    signature: event.signature,
    instruction_index: event.instructionIndex,
    inner_index: event.innerIndex,
    slot: event.slot.toString(),
    unix_time: event.data.unixTime,
    event_name: event.name,
    data: event.data,
    folded,
  }));
  const inserting = database.query({
    name: 'insert_events',
    text: `
      insert into journal (signature, instruction_index, inner_index, slot, unix_time,
        event_name, data, folded)
      select * from jsonb_to_recordset($1) as event (signature text, instruction_index integer,
        inner_index integer, slot bigint, unix_time bigint, event_name text, data jsonb,
        folded boolean)`,
    values: [JSON.stringify(events)],
  });
  const changes = entries.flatMap(({ event, changes }) =>
    changes.map(({ address, sequence }) => ({
      address,
      sequence: sequence.toString(),
      signature: event.signature,
      instruction_index: event.instructionIndex,
      inner_index: event.innerIndex,
    })),
  );
  const noting = database.query({
    name: 'insert_account_changes',
    text: `
      insert into account_changes (address, sequence, signature, instruction_index,
        inner_index)
      select * from jsonb_to_recordset($1) as change (address text, sequence numeric,
        signature text, instruction_index integer, inner_index integer)`,
    values: [JSON.stringify(changes)],
  });
  await Promise.all([inserting, noting]);
}
