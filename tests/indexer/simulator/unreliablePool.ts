import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { createPool } from '../../../common/postgres.ts';
import type { Chance } from './chance.ts';
import type { FaultRates } from './faultRates.ts';
import type { SimulatedClock } from './simulatedClock.ts';

type Query = (...parameters: unknown[]) => Promise<unknown>;

/** What becomes of a process. */
export interface Fate {
  isDead(): boolean;
  /** From now on nothing of it reaches the ledger or the database. */
  die(): void;
}

/** A process's connections to the database, which may end with any statement. */
export interface UnreliablePool {
  readonly pool: pg.Pool;
  /** Has the server end all of them. Resolves when the process has seen it. */
  endConnections(): Promise<void>;
  /** Resolves when every notification that was given before has arrived. */
  receiveNotifications(): Promise<void>;
}

/**
 * Connections end before a statement arrives, or after it was executed and before the answer
 * arrives; at times the process dies with them. What the server does by itself is waited for,
 * so that the same seed is the same run.
 *
 * @param options.operator ends connections; not one of them itself
 * @param options.name of the process
 */
export function createUnreliablePool(options: {
  databaseUrl: string;
  operator: pg.Pool;
  name: string;
  fate: Fate;
  chance: Chance;
  clock: SimulatedClock;
  rates: () => FaultRates;
}): UnreliablePool {
  const { databaseUrl, operator, name, fate, chance, clock, rates } = options;
  const pool = createPool({ databaseUrl, applicationName: name });
  const open = new Map<pg.PoolClient, { send: Query; ended: Promise<void> }>();

  async function endConnections(): Promise<void> {
    const ending = [...open.values()].map(({ ended }) => ended);
    await operator.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [name],
    );
    await Promise.all(ending);
  }

  async function execute(send: () => Promise<unknown>): Promise<unknown> {
    if (fate.isDead()) throw new Error('This process is dead');
    const isDying = chance.happens(rates().crashes);
    const isCut = isDying || chance.happens(rates().cuts);
    if (!isCut) return send();
    if (isDying) fate.die();
    if (chance.happens(500)) await send();
    await endConnections();
    throw new Error('Connection terminated unexpectedly');
  }

  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    const send = untilDone(client.query.bind(client) as Query);
    const ended = new Promise<void>((resolve) => {
      client.once('end', () => {
        open.delete(client);
        resolve();
      });
    });
    open.set(client, { send, ended });
    client.query = ((...parameters: unknown[]) =>
      clock.during(() => execute(() => send(...parameters)))) as typeof client.query;
  });

  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  pool.connect = (() => clock.during(connectOnce)) as typeof pool.connect;

  async function connectOnce(): Promise<pg.PoolClient> {
    const client = await connect();
    const release = client.release.bind(client);
    client.release = (isDestroyed) => {
      const ended = open.get(client)?.ended;
      release(isDestroyed);
      // The server lets go of a connection's locks before its end is seen.
      if (isDestroyed && ended) void clock.during(() => ended);
    };
    return client;
  }

  return {
    pool,
    endConnections,
    async receiveNotifications() {
      await Promise.all([...open.values()].map(({ send }) => send('select').catch(ignore)));
    },
  };
}

/** Rows that are copied are sent by a stream, which is given back at once. */
function untilDone(query: Query): Query {
  return async (...parameters) => {
    const result = await query(...parameters);
    if (result instanceof Writable) await finished(result);
    return result;
  };
}

/** A connection that has ended by then receives nothing more. */
function ignore(): void {}
