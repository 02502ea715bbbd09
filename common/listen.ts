import type pg from 'pg';
import { delay } from './wait.ts';

const RECONNECT_INTERVAL_MS = 1_000;
/** A connection that only listens would not notice that its server is gone. */
const PROBE_INTERVAL_MS = 10_000;

/**
 * Listens to a channel of notifications until `signal` aborts, on a connection of the pool that is
 * renewed when it is lost. Meanwhile notifications are missed.
 *
 * @param options.channel a name that needs no quotes
 * @param options.onListening called whenever it listens anew
 * @param options.onLost told why a connection was lost
 */
export async function listen(options: {
  pool: pg.Pool;
  channel: string;
  signal: AbortSignal;
  onNotification: (payload: string) => void;
  onListening: () => void;
  onLost: (error: unknown) => void;
}): Promise<void> {
  while (!options.signal.aborted) {
    try {
      await listenOnce(options);
    } catch (error) {
      options.onLost(error);
    }
    await delay(RECONNECT_INTERVAL_MS, options.signal);
  }
}

/** Listens until the connection ends. */
async function listenOnce({
  pool,
  channel,
  signal,
  onNotification,
  onListening,
}: Parameters<typeof listen>[0]): Promise<void> {
  const client = await pool.connect();
  const ended = new AbortController();
  const end = () => ended.abort();
  client.once('error', end);
  client.once('end', end);
  signal.addEventListener('abort', end);
  client.on('notification', ({ payload }) => onNotification(payload ?? ''));
  try {
    await client.query(`listen ${channel}`);
    onListening();
    while (!ended.signal.aborted) {
      await delay(PROBE_INTERVAL_MS, ended.signal);
      // Again what it does already: a probe that changes nothing.
      if (!ended.signal.aborted) await client.query(`listen ${channel}`);
    }
  } finally {
    signal.removeEventListener('abort', end);
    client.release(true);
  }
}
