import type { PublicKey } from '@solana/web3.js';
import { cellOf, type Journaled } from '../../common/database/mirrorTables.ts';
import {
  decodeEvents,
  type EventName,
  type Events,
  type ExecutedTransaction,
} from '../../programs/client/events.ts';

/** An event of any kind, by its `name`. */
export type LedgerEventData = {
  [Name in EventName]: { readonly name: Name; readonly data: Journaled<Events[Name]> };
}[EventName];

/** Where an event stands on the ledger, which identifies it for good. */
export interface EventPlace {
  readonly signature: string;
  readonly slot: bigint;
  /** The top-level instruction's position in its transaction. */
  readonly instructionIndex: number;
  /** The position among that instruction's inner instructions. */
  readonly innerIndex: number;
}

export type LedgerEvent = LedgerEventData & EventPlace;

/** A successful transaction of the program. */
export interface LedgerTransaction {
  readonly signature: string;
  readonly slot: bigint;
  /** In the order of their emission. */
  readonly events: readonly LedgerEvent[];
}

/** @throws Error for an event of the program that this release cannot read */
export function decodeTransaction(
  place: { signature: string; slot: bigint },
  executed: ExecutedTransaction,
  programId: PublicKey,
): LedgerTransaction {
  const events = decodeEvents(executed, programId).map(
    ({ name, data, instructionIndex, innerIndex }) =>
      ({ ...place, name, data: journaled(data), instructionIndex, innerIndex }) as LedgerEvent,
  );
  return { ...place, events };
}

/** An event's data as the journal keeps it. */
function journaled(data: object): object {
  const entries = Object.entries(data).map(([field, value]) => {
    const cell = cellOf(value);
    return [field, typeof cell === 'bigint' ? cell.toString() : cell];
  });
  return Object.fromEntries(entries);
}
