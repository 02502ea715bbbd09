import type pg from 'pg';
import { ConfigError } from '../config.ts';

/** The one is asked twice in each round, or two servers that take turns would look like own ones. */
const ROUNDS = 3;

/**
 * The service holds sessions: locks, notifications, settings and prepared statements belong to them.
 * A pooler in transaction mode lends each transaction another one, and nothing of that would hold.
 * It shows in that two connections that are open meet the same server process, or one meets two.
 *
 * @param pool may open two connections
 * @throws ConfigError where DATABASE_URL leads to such a pooler
 */
export async function assertOwnSessions(pool: pg.Pool): Promise<void> {
  const one = await pool.connect();
  try {
    const other = await pool.connect();
    try {
      const mine = await processOf(one);
      const theirs = await processOf(other);
      let areOwn = mine !== theirs;
      for (let round = 1; round < ROUNDS; round += 1) {
        for (const client of [one, one, other]) {
          areOwn &&= (await processOf(client)) === (client === one ? mine : theirs);
        }
      }
      if (!areOwn) throw inTransactionMode();
    } finally {
      other.release();
    }
  } finally {
    one.release();
  }
}

async function processOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  return rows[0]?.id ?? 0;
}

function inTransactionMode(): ConfigError {
  return new ConfigError(
    'DATABASE_URL: leads to a pooler in transaction mode, which keeps no session; ' +
      'name the database itself, or a pool in session mode',
  );
}
