import pg from 'pg';
import { connectionOf } from './database/connection.ts';
import type { Logger } from './logger.ts';

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
 * @param options.queryTimeoutMs after which a statement fails and its connection is given up: the
 *   server behind it may have vanished without a word
 * @param options.plansOnce keeps one plan for each statement with a name, whatever its values. The
 *   server would choose so by itself, but takes arrays of unknown length for long, and so plans
 *   statements for a few items anew each time: as much work as running them
 * @throws Error where the address asks for TLS in a way that cannot be; the setting was tried for that
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
    // Statements that do not wait for each other's answers go out at once, and are run in their order.
    pipeline: true,
  };
  const pool = new pg.Pool(config);
  // An idle connection that is lost is replaced by the next statement's. The pool reports it as an
  // error, and one that nobody hears ends the process.
  pool.on('error', ignore);
  // While it is lent, the pool does not listen, from before whoever asked for it can: a connection
  // may be lost in the very packet that opens it. The next statement on it says so.
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
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
    // A client whose rollback failed is in an unknown state and must not serve anybody again. One
    // that only reads may do so for ever, while another server behind the same address takes writes.
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

/** One caller's part of a shared call. */
interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  item: Item;
}

/**
 * Lets many callers share calls that cost much the same for one item as for many, such as a
 * statement. With few callers each is served at once and alone; whoever comes while `callsMax` calls
 * are under way goes with the next, so that under load a call carries the more the longer it takes.
 *
 * @param options.callOne serves a lone item at less cost; by default `call` does
 * @param options.call serves the items and gives their results in the same order, or none where
 *   there is nothing to give; its error is everybody's whose item it had
 */
export function gather<Item, Result>(options: {
  callOne?: (item: Item) => Promise<Result>;
  call: (items: readonly Item[]) => Promise<readonly Result[]>;
  itemsMax: number;
  callsMax: number;
}): (item: Item) => Promise<Result> {
  const { callOne, call, itemsMax, callsMax } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let calls = 0;

  async function resultsOf(items: readonly Item[]): Promise<readonly Result[]> {
    const [item] = items;
    if (callOne && items.length === 1) return [await callOne(item as Item)];
    return call(items);
  }

  async function serve(served: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await resultsOf(served.map(({ item }) => item));
      for (const [place, { resolve }] of served.entries()) resolve(results[place] as Result);
    } catch (error) {
      for (const { reject } of served) reject(error);
    }
  }

  async function pump(): Promise<void> {
    if (waiting.length === 0 || calls === callsMax) return;
    calls += 1;
    while (waiting.length > 0) {
      const served = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      await serve(served);
    }
    calls -= 1;
  }

  return (item) => {
    const one = { item, ...Promise.withResolvers<Result>() };
    waiting.push(one);
    // Whoever comes in the same turn of the event loop goes along.
    setImmediate(pump);
    return one.promise;
  };
}

/** So that a shared statement stays short. */
const APART = { itemsMax: 64, callsMax: 2 };

/**
 * `gather`, for items that must not fail by one another: where the database refuses the statement
 * for many, each of them is tried alone.
 *
 * @param call serves the items and gives their results in the same order
 */
export function gatherApart<Item, Result>(
  call: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  async function callAlone(item: Item): Promise<Result> {
    const [result] = await call([item]);
    return result as Result;
  }
  const settle = gather<Item, PromiseSettledResult<Result>>({
    ...APART,
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

/** Writes down what was observed, together with what else is observed at the time. */
export interface BatchLog<Item> {
  add(item: Item): void;
  /** Writes what is left; what is being written goes on. */
  close(): Promise<void>;
}

/** Well below the ten minutes that a median looks back over. */
const WRITE_AFTER_MS = 500;

/**
 * A request waits for none of this, and a second has two statements at most, however many its
 * requests. What fails to be written is reported and lost: nothing of it is owed to anybody.
 *
 * @param options.what the items, for the log
 */
export function createBatchLog<Item>(options: {
  write: (items: readonly Item[]) => Promise<void>;
  what: string;
  logger: Logger;
}): BatchLog<Item> {
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
