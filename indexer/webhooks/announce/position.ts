import type { Database } from '../../../common/postgres.ts';

/** How far events have been announced. */
export interface Position {
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
