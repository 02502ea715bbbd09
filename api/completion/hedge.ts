import { within } from '../../runtime/wait.ts';
import type { Slot } from '../routing/slots.ts';
import type { Asked } from './ask.ts';
import { createRace, type Runner } from './race.ts';

/** How an attempt stands to the other one at the same job. */
export interface Lane {
  runner: Runner;
  /** It was begun because the other was slow. */
  isRival: boolean;
  hasRival: () => boolean;
}

/**
 * Asks one worker and, if that has no text after `hedgeAfterMs`, a second one: whichever has text
 * first is heard, and the other is stopped. One that ends without text leaves it to the other.
 *
 * @param options.hedgeAfterMs undefined: only ever one
 * @param options.findRival a slot at another worker, if one is free now
 * @returns how the attempt ended that was heard; if none was, the end that says most
 */
export async function askOneOrTwo(options: {
  hedgeAfterMs: number | undefined;
  slot: Slot;
  findRival: () => Promise<Slot | undefined>;
  begin: (slot: Slot, lane: Lane) => Promise<Asked>;
}): Promise<Asked> {
  const { hedgeAfterMs, slot, findRival, begin } = options;
  const race = createRace();
  const runners = [race.enter(), race.enter()] as const;
  let hasRival = false;
  const run = (at: Slot, runner: Runner): Promise<Asked> =>
    begin(at, { runner, isRival: hasRival, hasRival: () => hasRival });

  const first = run(slot, runners[0]);
  if (hedgeAfterMs === undefined) return first;
  const hasTurnedUp = Promise.race([first, race.decided]).then(() => true);
  if (await within(hedgeAfterMs, hasTurnedUp)) return first;
  const rival = await findRival();
  if (!rival) return first;
  hasRival = true;
  const both = await Promise.allSettled([first, run(rival, runners[1])]);
  const ends = both.map((settled) => {
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  });
  const heard = runners.indexOf(race.heard() as Runner);
  const end = ends[heard] ?? ends.find(({ kind }) => kind !== 'failed') ?? ends[0];
  if (!end) throw new Error('two attempts ended without an end');
  return end;
}
