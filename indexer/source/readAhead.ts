import type { LedgerTransaction } from '../fold/event.ts';
import type { LedgerSource, ListedTransaction } from './source.ts';

/** A node's answer takes longer than applying it, so this many are asked for at a time. */
export const READS_AT_ONCE = 100;
/** Of more at a time none is applied faster, and more are lost with a process that dies. */
export const BATCH_MAX = 512;
/** Of a few hundred bytes each: some transactions have one, some have sixty. */
export const EVENTS_MAX = 2_500;

interface Reading<Prepared> {
  /** Rejects when the transaction cannot be read or prepared. */
  readonly done: Promise<void>;
  transaction?: Prepared;
}

/**
 * Reads transactions in the given order, ahead of whoever takes them, and gives out what is read by
 * then: all that has come meanwhile to whoever is slower than the node, one at a time to whoever
 * waits for it. A failure counts when its turn comes, after what was read before it, and not at all
 * if the reader has left before.
 */
export async function* readAhead<Prepared extends LedgerTransaction>(
  source: LedgerSource,
  listed: readonly ListedTransaction[],
  prepare: (transaction: LedgerTransaction) => Prepared,
): AsyncGenerator<readonly Prepared[]> {
  const unread = listed.values();
  const ahead: Reading<Prepared>[] = [];
  const readsAtOnce = source.readsAtOnce ?? READS_AT_ONCE;
  let underWay = 0;
  let events = 0;
  let isDue = false;
  let isOver = false;

  function readOn(): void {
    while (!isOver && underWay < readsAtOnce && ahead.length < BATCH_MAX && events < EVENTS_MAX) {
      const { value, done } = unread.next();
      if (done) return;
      ahead.push(read(value));
    }
  }

  /** What is answered at once must not hold up the database's answers. */
  function readOnLater(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      readOn();
    });
  }

  function read({ signature, slot, failed }: ListedTransaction): Reading<Prepared> {
    underWay += 1;
    const reading: Reading<Prepared> = {
      done: source.read({ signature, slot, failed }).then(
        (transaction) => {
          reading.transaction = prepare(transaction);
          events += transaction.events.length;
          underWay -= 1;
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
      // What reads later has not begun where everything was taken at once.
      if (!ahead[0]) readOn();
      if (!ahead[0]) return;
      await ahead[0].done;
      yield take();
    }
  } finally {
    isOver = true;
  }
}
