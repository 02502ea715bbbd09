import type { LedgerTransaction } from '../fold/event.ts';
import type { LedgerSource, ListedTransaction } from './source.ts';

/** A node's answer takes longer than applying it, so this many are requested at a time. */
export const READS_AT_ONCE = 100;
/** Larger batches are no faster, and a process that dies loses more. */
export const BATCH_MAX = 512;
/** Of a few hundred bytes each. Some transactions have one, some have sixty. */
export const EVENTS_MAX = 2_500;

interface Reading<Prepared> {
  /** Rejects when the transaction cannot be read or prepared. */
  readonly done: Promise<void>;
  transaction?: Prepared;
}

/**
 * Reads transactions in the given order, ahead of its consumer, and yields all that are read. A
 * consumer that is slower than the node gets many, any other one at a time. The error of a failed
 * read is thrown when its turn comes.
 */
export async function* readAhead<Prepared extends LedgerTransaction>(
  source: LedgerSource,
  listed: readonly ListedTransaction[],
  prepare: (transaction: LedgerTransaction) => Prepared,
): AsyncGenerator<readonly Prepared[]> {
  const unread = listed.values();
  const ahead: Reading<Prepared>[] = [];
  const readsAtOnce = source.readsAtOnce ?? READS_AT_ONCE;
  let running = 0;
  let events = 0;
  let isDue = false;
  let isOver = false;

  function readOn(): void {
    while (!isOver && running < readsAtOnce && ahead.length < BATCH_MAX && events < EVENTS_MAX) {
      const { value, done } = unread.next();
      if (done) return;
      ahead.push(read(value));
    }
  }

  /** Later, so that a node's answers do not hold up the database's. */
  function readOnLater(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      readOn();
    });
  }

  function read({ signature, slot, failed }: ListedTransaction): Reading<Prepared> {
    running += 1;
    const reading: Reading<Prepared> = {
      done: source.read({ signature, slot, failed }).then(
        (transaction) => {
          reading.transaction = prepare(transaction);
          events += transaction.events.length;
          running -= 1;
          readOnLater();
        },
        (error) => {
          isOver = true;
          throw error;
        },
      ),
    };
    reading.done.catch(() => undefined);
    return reading;
  }

  function take(): Prepared[] {
    const batch: Prepared[] = [];
    for (let first = ahead[0]?.transaction; first; first = ahead[0]?.transaction) {
      batch.push(first);
      events -= first.events.length;
      ahead.shift();
    }
    readOnLater();
    return batch;
  }

  try {
    for (;;) {
      // Where everything was taken, `readOnLater` has not begun yet.
      if (!ahead[0]) readOn();
      if (!ahead[0]) return;
      await ahead[0].done;
      yield take();
    }
  } finally {
    isOver = true;
  }
}
