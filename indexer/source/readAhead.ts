import type { LedgerTransaction } from '../fold/event.ts';
import type { LedgerSource, ListedTransaction } from './source.ts';

/** A node's answer takes longer than applying it, so this many are asked for at a time. */
const READS_AT_ONCE = 8;
/** Of more at a time none is applied faster, and more are lost with a process that dies. */
const BATCH_MAX = 32;
/** Of a few hundred bytes each: some transactions have one, some have sixty. */
const EVENTS_MAX = 1_000;

interface Reading {
  /** Rejects when the transaction cannot be read. */
  readonly done: Promise<void>;
  transaction?: LedgerTransaction;
}

/**
 * Reads transactions in the given order, ahead of whoever takes them, and gives out what is read by
 * then: all that has come meanwhile to whoever is slower than the node, one at a time to whoever
 * waits for it. A failure counts when its turn comes, after what was read before it, and not at all
 * if the reader has left before.
 */
export async function* readAhead(
  source: LedgerSource,
  listed: readonly ListedTransaction[],
): AsyncGenerator<readonly LedgerTransaction[]> {
  const unread = listed.values();
  const ahead: Reading[] = [];
  let underWay = 0;
  let events = 0;
  let isOver = false;

  function readOn(): void {
    while (!isOver && underWay < READS_AT_ONCE && ahead.length < BATCH_MAX && events < EVENTS_MAX) {
      const { value, done } = unread.next();
      if (done) return;
      ahead.push(read(value));
    }
  }

  function read({ signature, slot, failed }: ListedTransaction): Reading {
    underWay += 1;
    const reading: Reading = {
      done: source.read({ signature, slot, failed }).then(
        (transaction) => {
          reading.transaction = transaction;
          events += transaction.events.length;
          underWay -= 1;
          readOn();
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

  function take(): LedgerTransaction[] {
    const batch: LedgerTransaction[] = [];
    for (let first = ahead[0]?.transaction; first; first = ahead[0]?.transaction) {
      batch.push(first);
      events -= first.events.length;
      ahead.shift();
    }
    readOn();
    return batch;
  }

  try {
    readOn();
    while (ahead[0]) {
      await ahead[0].done;
      yield take();
    }
  } finally {
    isOver = true;
  }
}
