import type { LedgerEvent } from '../decode.ts';

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
