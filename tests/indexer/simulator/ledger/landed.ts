import type {
  LedgerEvent,
  LedgerEventData,
  LedgerTransaction,
} from '../../../../indexer/fold/event.ts';
import type { Instruction } from '../../../../testing/indexer/program/programState.ts';
import { addresses } from '../../../../testing/indexer/scene.ts';

/** A transaction where it landed; one that was refused has no events. */
export interface Landed {
  readonly signature: string;
  readonly slot: bigint;
  /** When it was made: its blockhash dies some time after. */
  readonly madeAtSlot: bigint;
  readonly instructions: readonly Instruction[];
  readonly failed: boolean;
  readonly events: readonly LedgerEventData[];
  /** Those that it names. */
  readonly accounts: ReadonlySet<string>;
}

/** What the ledger shows of a transaction. */
export function show({ signature, slot, events }: Landed): LedgerTransaction {
  return {
    ...{ signature, slot },
    events: events.map(
      (event, position): LedgerEvent => ({
        ...{ ...event, signature, slot },
        ...{ instructionIndex: position, innerIndex: 0 },
      }),
    ),
  };
}

/**
 * The accounts that a transaction with these events names: events name most, and every
 * instruction names the two fixed ones.
 */
export function accountsOf(events: readonly LedgerEventData[]): Set<string> {
  const named = events.flatMap(({ data }) => Object.values(data).map(String));
  return new Set([addresses.config.toBase58(), addresses.treasury.toBase58(), ...named]);
}
