import type pg from 'pg';
import { delay } from './wait.ts';

const RECONNECT_INTERVAL_MS = 1_000;
const PROBE_INTERVAL_MS = 10_000;

/**
 * Listens to a channel of notifications until `signal` aborts, on a connection of the pool. A lost
 * connection is opened again; notifications in between are lost.
 *
 * @param options.channel a name that needs no quotes
 * @param options.probeMs between two probes: a connection that only listens would not notice that its
 *   server is gone
 * @param options.onListening called at each begin of listening
 * @param options.onLost gets the reason why a connection was lost
 */
export async function listen(options: {
  pool: pg.Pool;
  channel: string;
  signal: AbortSignal;
  onNotification: (payload: string) => void;
  onListening: () => void;
  onLost: (error: unknown) => void;
  probeMs?: number | undefined;
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
  probeMs = PROBE_INTERVAL_MS,
}: Parameters<typeof listen>[0]): Promise<void> {
  const client = await pool.connect();
  const lost = new AbortController();
  // A signal that aborted while the connection opened emits no event any more.
  const ended = AbortSignal.any([signal, lost.signal]);
  client.once('error', () => lost.abort());
  client.once('end', () => lost.abort());
  client.on('notification', ({ payload }) => onNotification(payload ?? ''));
  try {
    for (let isFirst = true; !ended.aborted; isFirst = false) {
      // To listen again changes nothing, so it serves as the probe.
      await client.query(`listen ${channel}`);
      if (isFirst) onListening();
      await delay(probeMs, ended);
    }
  } finally {
    client.release(true);
  }
}
