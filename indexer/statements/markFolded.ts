import type { Database } from '../../common/postgres.ts';
import type { EventPlace } from '../decode.ts';

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
