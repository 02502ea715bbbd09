import type pg from 'pg';
import { delay } from '../runtime/wait.ts';

/** Any number that nothing else in this database locks. */
const LOCK_KEY = 7_332_002n;
const ATTEMPT_INTERVAL_MS = 1_000;

/**
 * Waits until this process is the only one that writes the mirror, then works on the connection
 * that holds the lock. A process that loses its connection can neither write nor keep the lock, so
 * the next one takes over within seconds, even from a machine that has vanished.
 *
 * @param onStandby told when another process holds the lock
 */
export async function lead(
  pool: pg.Pool,
  signal: AbortSignal,
  work: (client: pg.PoolClient, signal: AbortSignal) => Promise<void>,
  onStandby: () => void,
): Promise<void> {
  const client = await pool.connect();
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  try {
    await client.query('set tcp_keepalives_idle = 5');
    await client.query('set tcp_keepalives_interval = 1');
    await client.query('set tcp_keepalives_count = 3');
    if (await acquire(client, signal, onStandby)) {
      await work(client, AbortSignal.any([signal, lost.signal]));
    }
  } finally {
    // Closing the connection releases the lock, whatever state the work left it in.
    client.release(true);
  }
}

async function acquire(
  client: pg.PoolClient,
  signal: AbortSignal,
  onStandby: () => void,
): Promise<boolean> {
  while (!signal.aborted) {
    const { rows } = await client.query<{ acquired: boolean }>(
      'select pg_try_advisory_lock($1) as acquired',
      [LOCK_KEY],
    );
    if (rows[0]?.acquired) return true;
    onStandby();
    await delay(ATTEMPT_INTERVAL_MS, signal);
  }
  return false;
}
