import pg from 'pg';
import { connectionOf } from './database/connection.ts';

/** What a statement needs: a pool, or the client that holds the current transaction. */
export type Database = Pick<pg.Pool, 'query'>;

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Amounts never pass through a float: both integer column types of the schema become bigint. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID || oid === NUMERIC_OID
      ? (text: string) => BigInt(text)
      : pg.types.getTypeParser(oid, format as 'text'),
};

/** The SQLSTATE of a write that is refused by a server, or on a connection, that only reads. */
export const READ_ONLY_SQLSTATE = '25006';
/** The SQLSTATE of a statement about a table that is not there. */
export const UNDEFINED_TABLE_SQLSTATE = '42P01';

/** A connection that is silent for so long is probed by the system. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * A pool whose int8 and numeric columns arrive as bigint.
 *
 * @param options.queryTimeoutMs after which a statement fails and its connection is dropped, since
 *   the server behind it may be gone
 * @param options.plansOnce keeps one plan for each named statement. Left to itself, the server takes
 *   arrays of unknown length for long ones and plans each time, which costs as much as running them
 * @throws Error where the address asks for TLS in an impossible way; settings were checked for that
 */
export function createPool(options: {
  databaseUrl: string;
  applicationName: string;
  max?: number;
  queryTimeoutMs?: number;
  plansOnce?: boolean;
}): pg.Pool {
  const config: pg.PoolConfig & { pipeline: boolean } = {
    ...connectionOf(options.databaseUrl),
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    ...(options.plansOnce && { onConnect: planOnce }),
    ...(options.queryTimeoutMs !== undefined && { query_timeout: options.queryTimeoutMs }),
    types,
    // Sends statements without waiting for the answers to those before. They run in their order.
    pipeline: true,
  };
  const pool = new pg.Pool(config);
  // A lost idle connection is replaced at the next statement. The pool reports it as an error, which
  // would end the process without a listener.
  pool.on('error', ignore);
  // The pool does not listen to a lent connection, and its user listens too late. It may be lost in
  // the very packet that opens it. Then its next statement fails.
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

/** One array for each column, which is how a statement takes many rows. */
export function columnsOf<Row>(rows: readonly Row[], ...fields: (keyof Row)[]): unknown[][] {
  return fields.map((field) => rows.map((row) => row[field]));
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    if (isOnlyReading(error)) broken = error;
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    // A client whose rollback failed is in an unknown state and must not be used again. Neither must
    // one that only reads, since another server behind the same address may take writes.
    client.release(broken);
  }
}

/** By a statement, since poolers refuse what they do not know in the connection's own options. */
async function planOnce(client: pg.ClientBase): Promise<void> {
  await client.query('set plan_cache_mode = force_generic_plan');
}

function isOnlyReading(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY_SQLSTATE;
}

function ignore(): void {}

// Three ways to share a statement, which costs nearly as much for one item as for many.

/**
 * Lets many callers share calls. An item that comes while fewer than `callsMax` calls run is called
 * at once, with the others of its turn of the event loop. Later items wait for the next call, so that
 * batches grow with the load.
 *
 * @param options.call serves the items, and returns their results in the same order, or nothing. If
 *   it throws, so does every caller of the batch
 */
export function batched<Item, Result>(options: {
  call: (items: readonly Item[]) => Promise<readonly Result[]> | Promise<void>;
  itemsMax: number;
  callsMax: number;
}): (item: Item) => Promise<Result> {
  const { call, itemsMax, callsMax } = options;
  let waiting: ({ item: Item } & PromiseWithResolvers<Result>)[] = [];
  let calls = 0;

  async function serve(batch: typeof waiting): Promise<void> {
    try {
      const results = await call(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(results?.[place] as Result);
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

/** Well below the ten minutes that a median looks back over. */
const WRITE_AFTER_MS = 500;

/**
 * Writes observations that no request waits for, those of half a second together: two statements a
 * second, however many come. Items that fail to be written are logged and lost.
 *
 * @param options.what the items, for the log
 */
export function createWriteBuffer<Item>(options: {
  write: (items: readonly Item[]) => Promise<void>;
  what: string;
  logger: { warn(entry: object): void };
}) {
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
    add(item: Item): void {
      items.push(item);
      timer ??= setTimeout(writeAll, WRITE_AFTER_MS);
    },
    /** Writes what is left. A write that runs goes on. */
    async close(): Promise<void> {
      if (timer === undefined) return;
      clearTimeout(timer);
      await writeAll();
    },
  };
}
