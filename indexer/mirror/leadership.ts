import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import { delay } from '../../common/wait.ts';
import { RetryableError } from '../source/errors.ts';

/** Any number that nothing else in this database locks. */
const LOCK_KEY = 7_332_002n;
/** A process that asks the leader to leave notifies here. */
const HANDOVER_CHANNEL = 'mirror_handover';
const HANDOVER = {
  attemptMs: 2_000,
  attemptsMax: 15,
  refusal: 'The indexer that keeps the mirror does not hand it over',
};
/** SQLSTATE of a lock that was not granted within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Waits until this process is the only one that writes the mirror, then works on the connection
 * that holds the lock. A process that loses its connection can neither write nor keep the lock. So
 * the next one leads within seconds, even if the machine of the first has vanished.
 *
 * @param work ends when its signal aborts: also when another process asks for the leadership
 * @param onStandby called when another process holds the lock
 * @param attemptMs between two attempts to get the lock
 */
export async function withLeadership(
  pool: pg.Pool,
  signal: AbortSignal,
  work: (client: pg.PoolClient, signal: AbortSignal) => Promise<void>,
  onStandby: () => void,
  attemptMs: number,
): Promise<void> {
  const client = await pool.connect();
  const lost = new AbortController();
  const asked = new AbortController();
  client.on('error', () => lost.abort());
  client.on('notification', ({ channel }) => {
    if (channel === HANDOVER_CHANNEL) asked.abort();
  });
  try {
    await client.query('set tcp_keepalives_idle = 5');
    await client.query('set tcp_keepalives_interval = 1');
    await client.query('set tcp_keepalives_count = 3');
    if (await awaitLock(client, signal, onStandby, attemptMs)) {
      await client.query(`listen ${HANDOVER_CHANNEL}`);
      await work(client, AbortSignal.any([signal, lost.signal, asked.signal]));
    }
  } catch (error) {
    // Another process asked for the leadership, so the work was broken off on purpose.
    if (!asked.signal.aborted || !(error instanceof RetryableError)) throw error;
  } finally {
    // Closing the connection releases the lock, in any state that the work left it in.
    client.release(true);
  }
}

async function awaitLock(
  client: pg.PoolClient,
  signal: AbortSignal,
  onStandby: () => void,
  attemptMs: number,
): Promise<boolean> {
  while (!signal.aborted) {
    if (await tryLock(client, LOCK_KEY)) return true;
    onStandby();
    await delay(attemptMs, signal);
  }
  return false;
}

/** Whether the connection now holds this lock of the database, which it keeps to its end. */
export async function tryLock(client: Database, key: bigint): Promise<boolean> {
  const { rows } = await client.query<{ acquired: boolean }>(
    'select pg_try_advisory_lock($1) as acquired',
    [key],
  );
  return rows[0]?.acquired === true;
}

/**
 * Makes the leader leave, and takes its lock until `releaseLeadership` or the connection's end. The
 * other processes stand by.
 *
 * @throws RetryableError when the leader does not leave within half a minute
 */
export function acquireLeadership(client: Database): Promise<void> {
  return awaitGranted(client, HANDOVER, async () => {
    // In each attempt, since a standby may have become the leader before this one waited.
    await client.query(`notify ${HANDOVER_CHANNEL}`);
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
  });
}

/**
 * Runs what needs a lock, again while the lock is not granted.
 *
 * @param options.attemptMs how long the server waits for the lock
 * @throws RetryableError that says `refusal`, after the last attempt
 */
export async function awaitGranted(
  client: Database,
  options: { attemptMs: number; attemptsMax: number; refusal: string },
  work: () => Promise<unknown>,
): Promise<void> {
  const { attemptMs, attemptsMax, refusal } = options;
  await client.query(`set lock_timeout = ${attemptMs}`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      await client.query('reset lock_timeout');
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === attemptsMax) throw new RetryableError(refusal, { cause: error });
    }
  }
}

/** Lets the next process lead. */
export async function releaseLeadership(client: Database): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
}
