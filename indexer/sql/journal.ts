import type { Commitment } from '../../common/net/commitment.ts';
import type { Database } from '../../common/postgres.ts';
import type { Change } from '../fold/change.ts';
import type { EventPlace, LedgerEvent } from '../fold/event.ts';
import { copiedRow, copyRows } from './copyRows.ts';

/** An event as the journal holds it. */
export interface JournalRow {
  signature: string;
  slot: bigint;
  instruction_index: number;
  inner_index: number;
  event_name: string;
  data: unknown;
}

export const journalColumns =
  'journal.signature, journal.slot, instruction_index, inner_index, event_name, data';

export function eventOf(row: JournalRow): LedgerEvent {
  return {
    signature: row.signature,
    slot: row.slot,
    instructionIndex: row.instruction_index,
    innerIndex: row.inner_index,
    name: row.event_name,
    data: row.data,
  } as LedgerEvent;
}

const EVENT_COLUMNS =
  'signature, instruction_index, inner_index, slot, unix_time, event_name, data, folded';
const CHANGE_COLUMNS = 'address, sequence, signature, instruction_index, inner_index';

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
      insert into journal (${EVENT_COLUMNS})
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
      insert into account_changes (${CHANGE_COLUMNS})
      select * from jsonb_to_recordset($1) as change (address text, sequence numeric,
        signature text, instruction_index integer, inner_index integer)`,
    values: [JSON.stringify(changes)],
  });
  await Promise.all([inserting, noting]);
}

/** A folded event's row of the journal, for `copyEvents`. */
export function copiedEvent(event: LedgerEvent): string {
  const { signature, instructionIndex, innerIndex, slot, name, data } = event;
  const place = [signature, instructionIndex, innerIndex, slot];
  return copiedRow([...place, data.unixTime, name, JSON.stringify(data), true]);
}

/** The rows of an event's changes, for `copyEvents`. */
export function copiedChanges(entry: { event: LedgerEvent; changes: readonly Change[] }): string {
  const { signature, instructionIndex, innerIndex } = entry.event;
  return entry.changes
    .map(({ address, sequence }) =>
      copiedRow([address, sequence, signature, instructionIndex, innerIndex]),
    )
    .join('');
}

/** Writes folded events to the journal, as `insertEvents` does; for many, on an idle connection. */
export async function copyEvents(
  database: Database,
  { events, changes }: { events: string; changes: string },
): Promise<void> {
  await copyRows(database, { table: 'journal', columns: EVENT_COLUMNS, rows: events });
  await copyRows(database, { table: 'account_changes', columns: CHANGE_COLUMNS, rows: changes });
}

/** @returns how many were not stored before */
export async function insertTransactions(
  database: Database,
  transactions: readonly { signature: string; slot: bigint }[],
  commitment: Commitment = 'confirmed',
): Promise<number> {
  const { rowCount } = await database.query({
    name: 'insert_transactions',
    text: `
      insert into transactions (signature, slot, commitment)
      select *, $3 from unnest($1::text[], $2::bigint[])
      on conflict do nothing`,
    values: [
      transactions.map(({ signature }) => signature),
      transactions.map(({ slot }) => slot),
      commitment,
    ],
  });
  return rowCount ?? 0;
}

/** Notes that a held event has been folded after all. */
export async function markFolded(database: Database, event: EventPlace): Promise<void> {
  await database.query({
    name: 'mark_folded',
    text: `
      update journal set folded = true
      where signature = $1 and instruction_index = $2 and inner_index = $3`,
    values: [event.signature, event.instructionIndex, event.innerIndex],
  });
}

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

/**
 * Whether any event waits in the journal for a change before it.
 *
 * Ordered, so that the index of what waits is read, however little the server knows of the journal.
 */
export async function hasHeldEvents(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(
    'select from journal where not folded order by slot limit 1',
  );
  return rowCount === 1;
}

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
