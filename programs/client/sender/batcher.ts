import { type BatchItem, sendBatch } from './batch.ts';
import { LedgerUnavailableError, type Outcome } from './outcome.ts';
import type { Sender } from './sender.ts';

/** Gathers instructions of several jobs into shared transactions while the ledger is busy. */
export interface Batcher {
  /**
   * Sends an item, alone or with others, and tells how it ended.
   *
   * @param item.key whose item it is: what `take` finds, and what is kept apart after a failure
   * @param item.signal withdraws it as long as it is not signed
   * @throws LedgerUnavailableError as Sender does
   * @throws WithdrawnError when it was withdrawn in time
   */
  add(item: Omit<BatchItem, 'end'>): Promise<Outcome>;
  /**
   * Removes an item that was not sent yet, so that the caller can carry its instructions in another
   * transaction. Its promise is left pending: the caller has taken over answering for it.
   *
   * @returns whether there was one
   */
  take(key: string): boolean;
  /** How long the first of its transactions that wait has waited for its turn; 0 when none does. */
  waitedMs(): number;
  /** Gives up what was not sent. */
  close(): void;
}

/** What made one batch fail may well do so again; alone it only harms itself. */
const APART_MS = 60_000;
const WAITING_MAX = 4_096;

/**
 * With nothing in flight an item is sent at once; otherwise items gather until the flight ends,
 * `maxInstructions` are there or the oldest has waited for `lingerMs`.
 *
 * @param options.maxInstructions how many items, usually of one instruction, share a transaction
 * @param options.computeUnitLimitEach what one item may use
 * @param options.sendsWhenIdle false: items always linger, so that they can still be taken
 */
export function createBatcher(options: {
  sender: Sender;
  maxInstructions: number;
  lingerMs: number;
  computeUnitLimitEach: number;
  sendsWhenIdle?: boolean;
  lane?: string;
}): Batcher {
  const { sender, lane = '', maxInstructions, lingerMs, sendsWhenIdle = true } = options;
  const apartUntilMs = new Map<string, number>();
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  function keepApart({ key }: BatchItem): void {
    const now = performance.now();
    for (const [other, untilMs] of apartUntilMs) if (untilMs <= now) apartUntilMs.delete(other);
    apartUntilMs.set(key, now + APART_MS);
  }

  function isApart({ item }: Waiting): boolean {
    return (apartUntilMs.get(item.key) ?? 0) > performance.now();
  }

  function isDue(oldest: Waiting): boolean {
    if (waiting.length >= maxInstructions || (sendsWhenIdle && inFlight === 0)) return true;
    return performance.now() >= oldest.lingersUntilMs;
  }

  /** Removes the oldest item and those that may travel with it. */
  function next(oldest: Waiting): BatchItem[] {
    const chosen = isApart(oldest)
      ? [oldest]
      : waiting.filter((other) => !isApart(other)).slice(0, maxInstructions);
    waiting = waiting.filter((other) => !chosen.includes(other));
    return chosen.map(({ item }) => item);
  }

  async function dispatch(items: BatchItem[]): Promise<void> {
    inFlight += 1;
    await sendBatch(items, { ...options, onFault: keepApart });
    inFlight -= 1;
    pump();
  }

  function pump(): void {
    clearTimeout(timer);
    for (let [oldest] = waiting; oldest !== undefined; [oldest] = waiting) {
      if (!isDue(oldest)) {
        timer = setTimeout(pump, Math.max(0, oldest.lingersUntilMs - performance.now()));
        return;
      }
      void dispatch(next(oldest));
    }
  }

  return {
    async add(item) {
      if (waiting.length >= WAITING_MAX) {
        throw new LedgerUnavailableError('Too much waits to be sent', { signature: null });
      }
      const end = Promise.withResolvers<Outcome>();
      waiting.push({
        item: { ...item, end },
        lingersUntilMs: performance.now() + lingerMs,
      });
      // What is added in the same turn of the event loop travels together.
      queueMicrotask(pump);
      return end.promise;
    },
    take(key) {
      const found = waiting.find(({ item }) => item.key === key);
      waiting = waiting.filter((other) => other !== found);
      return found !== undefined;
    },
    waitedMs: () => sender.waitedMs(lane),
    close() {
      clearTimeout(timer);
      const error = new LedgerUnavailableError('The sender was closed', { signature: null });
      for (const { item } of waiting) item.end.reject(error);
      waiting = [];
    },
  };
}

interface Waiting {
  readonly item: BatchItem;
  readonly lingersUntilMs: number;
}
