import pg from 'pg';

// Three ways to share a statement, which costs nearly as much for one item as for many.

/** One caller's item in a batch. */
interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  item: Item;
}

/**
 * Lets many callers share calls. An item that comes while fewer than `callsMax` calls run is called
 * at once, with the others of its turn of the event loop. Later items wait for the next call, so that
 * batches grow with the load.
 *
 * @param options.call serves the items, and returns their results in the same order, or nothing. If
 *   it throws, so does every caller of the batch
 */
export function batched<Item, Result>(options: {
  call: (items: readonly Item[]) => Promise<readonly Result[]>;
  itemsMax: number;
  callsMax: number;
}): (item: Item) => Promise<Result> {
  const { call, itemsMax, callsMax } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let calls = 0;

  async function serve(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await call(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(results[place] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function run(): Promise<void> {
    if (waiting.length === 0 || calls === callsMax) return;
    calls += 1;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      await serve(batch);
    }
    calls -= 1;
  }

  return (item) => {
    const one = { item, ...Promise.withResolvers<Result>() };
    waiting.push(one);
    // At the end of the turn, so that its other items come along.
    setImmediate(run);
    return one.promise;
  };
}

/** So that a shared statement stays short. */
const ISOLATED = { itemsMax: 64, callsMax: 2 };

/**
 * `batched`, for items that must not fail by one another: where the database refuses the statement
 * for many, each of them is tried alone.
 *
 * @param call serves the items and returns their results in the same order
 */
export function batchedIsolated<Item, Result>(
  call: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  async function callAlone(item: Item): Promise<Result> {
    const [result] = await call([item]);
    return result as Result;
  }
  const settle = batched<Item, PromiseSettledResult<Result>>({
    ...ISOLATED,
    async call(items) {
      try {
        const results = await call(items);
        return results.map((value) => ({ status: 'fulfilled', value }));
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        return Promise.allSettled(items.map(callAlone));
      }
    },
  });
  return async (item) => {
    const settled = await settle(item);
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  };
}

/** Buffers items, and writes those of half a second together. */
interface WriteBuffer<Item> {
  add(item: Item): void;
  /** Writes what is left. A write that runs goes on. */
  close(): Promise<void>;
}

/** Well below the ten minutes that a median looks back over. */
const WRITE_AFTER_MS = 500;

/**
 * For observations that no request waits for: however many come, they cost two statements a second.
 * Items that fail to be written are logged and lost.
 *
 * @param options.what the items, for the log
 */
export function createWriteBuffer<Item>(options: {
  write: (items: readonly Item[]) => Promise<void>;
  what: string;
  logger: { warn(entry: object): void };
}): WriteBuffer<Item> {
  const { write, what, logger } = options;
  let items: Item[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function writeAll(): Promise<void> {
    const written = items;
    items = [];
    timer = undefined;
    try {
      await write(written);
    } catch (error) {
      logger.warn({ msg: `Failed to record ${what}`, err: error });
    }
  }

  return {
    add(item) {
      items.push(item);
      timer ??= setTimeout(writeAll, WRITE_AFTER_MS);
    },
    async close() {
      if (timer === undefined) return;
      clearTimeout(timer);
      await writeAll();
    },
  };
}
