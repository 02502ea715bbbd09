import { PublicKey } from '@solana/web3.js';
import {
  decodeEvents,
  type EventName,
  type Events,
  type ExecutedTransaction,
} from '../../programs/client/events.ts';

/**
 * A value as the journal keeps it, in JSON without loss: 64-bit integers in decimal, keys in
 * base58, bytes in lower-case hex.
 */
type Journaled<Value> = Value extends bigint | PublicKey | Uint8Array
  ? string
  : Value extends PublicKey[]
    ? string[]
    : Value extends string | number | boolean
      ? Value
      : { [Field in keyof Value]: Journaled<Value[Field]> };

/** What happened: an event of any kind, told apart by `name`. */
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

function journaled(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(journaled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, journaled(inner)]),
  );
}
