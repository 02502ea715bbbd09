import type { Database } from '../../../common/postgres.ts';
import type { Tier } from '../../../programs/client/generated/vocabulary.ts';
import type { EventData, EventKind } from '../../../webhooks/events.ts';
import type { EventOf } from '../../fold/change.ts';
import type { LedgerEvent } from '../../fold/event.ts';

/** How far events have been announced. */
interface Position {
  /** Nothing up to this slot is announced any more. */
  readonly floorSlot: bigint;
  /** The mirror's cursor up to which everything has been announced. */
  readonly sweptSlot: bigint;
}

/** @returns undefined on a new installation */
export async function selectPosition(database: Database): Promise<Position | undefined> {
  const { rows } = await database.query<{ floor_slot: bigint; swept_slot: bigint }>(
    'select floor_slot, swept_slot from service.announcements',
  );
  return rows[0] && { floorSlot: rows[0].floor_slot, sweptSlot: rows[0].swept_slot };
}

/** Makes a slot the position, of which nothing up to it is announced. */
export async function resetPosition(database: Database, slot: bigint): Promise<Position> {
  await database.query(
    `insert into service.announcements (floor_slot, swept_slot) values ($1, $1)
     on conflict (is_only) do update set floor_slot = $1, swept_slot = $1`,
    [slot],
  );
  return { floorSlot: slot, sweptSlot: slot };
}

/** Notes that everything up to a cursor of the mirror has been announced; it never goes back. */
export async function movePosition(database: Database, sweptSlot: bigint): Promise<void> {
  await database.query({
    name: 'move_position',
    text: 'update service.announcements set swept_slot = $1 where swept_slot < $1',
    values: [sweptSlot],
  });
}

/** What webhooks are told, with what the types of those who receive it say of its kind. */
export type Notice = {
  [Kind in EventKind]: {
    readonly kind: Kind;
    /** Whose webhooks are told; null: everybody's. */
    readonly wallet: string | null;
    readonly data: Readonly<EventData[Kind]>;
  };
}[EventKind];

/** A notice, and the ledger's event that it follows from. */
export type Occurrence = Notice & { readonly event: LedgerEvent };

/** What a job keeps all its life. */
export interface JobFacts {
  readonly wallet: string;
  readonly model_id: string;
  readonly tier: Tier;
}

/** What events refer to without saying it. */
export interface Facts {
  /** By address. */
  readonly jobs: ReadonlyMap<string, JobFacts>;
  /** Model ids by address. */
  readonly modelIds: ReadonlyMap<string, string>;
  /** All events that are announced together. */
  readonly events: readonly LedgerEvent[];
}

/** What webhooks are told of one kind of ledger event; nothing of some. */
export type Describe<Name extends LedgerEvent['name']> = (
  event: EventOf<Name>,
  facts: Facts,
) => Notice | readonly Notice[];
