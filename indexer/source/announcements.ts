import { LRUCache } from 'lru-cache';
import type { ListedTransaction } from './source.ts';
import { createWakeUp } from './wakeUp.ts';

/** What others say has happened on the ledger: only ever a hint, which a sweep makes up for. */
export interface Announcements {
  /** A transaction was named, by the ledger's stream. */
  name(transaction: ListedTransaction): void;
  /** Something happened; somebody who knows only its signature, or not even that, says so. */
  hint(signature?: string): void;
  /** What has been said since this was asked last. */
  take(): Announced;
  /** Returns when something has been said, after `timeoutMs`, or when `signal` aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export interface Announced {
  /** Each once, in the order in which they were named. */
  readonly named: readonly ListedTransaction[];
  /** Whether something happened that was not named. */
  readonly isMore: boolean;
}

/** More than are named while one batch is applied; of what is beyond, a sweep hears. */
const NAMED_MAX = 2_000;
const SEEN_MAX = 20_000;

export function createAnnouncements(): Announcements {
  const seen = new LRUCache<string, true>({ max: SEEN_MAX });
  const wakeUp = createWakeUp();
  let named: ListedTransaction[] = [];
  let isMore = false;

  return {
    name(transaction) {
      if (seen.has(transaction.signature)) return;
      seen.set(transaction.signature, true);
      if (named.length < NAMED_MAX) named.push(transaction);
      else isMore = true;
      wakeUp.wake();
    },
    hint(signature) {
      if (signature !== undefined && seen.has(signature)) return;
      isMore = true;
      wakeUp.wake();
    },
    take() {
      const taken = { named, isMore };
      named = [];
      isMore = false;
      return taken;
    },
    wait: wakeUp.wait,
  };
}
