import { type Tell, tellReaders } from '../apply/applyTransaction.ts';
import type { MirrorContext } from './context.ts';

/** Tells readers and webhooks of what is folded; nobody where the mirror is only made anew. */
export function tellOf({ announcer }: Pick<MirrorContext, 'announcer'>): Tell {
  return async (database, events) => {
    if (!announcer) return;
    await Promise.all([tellReaders(database, events), announcer.announce(database, events)]);
  };
}
