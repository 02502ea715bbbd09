import type pg from 'pg';
import type { Logger } from '../../runtime/logger.ts';
import { delay } from '../../runtime/wait.ts';
import { type JobProgress, selectJobProgress } from '../statements/jobs.ts';

/** Waits until the mirror shows what the ledger has already confirmed. */
export interface JobWatch {
  start(): Promise<void>;
  close(): Promise<void>;
  /**
   * @returns the job once `isReached` holds in the mirror, or undefined after `timeoutMs`
   */
  waitFor(
    address: string,
    isReached: (progress: JobProgress) => boolean,
    timeoutMs: number,
  ): Promise<JobProgress | undefined>;
  /** Tells the indexer that this transaction is confirmed, so that it need not wait for its turn. */
  hint(signature: string): Promise<void>;
}

/** Behind the notifications: one may be lost while the listening connection is renewed. */
const POLL_INTERVAL_MS = 500;
const RECONNECT_INTERVAL_MS = 1_000;

export function createJobWatch(options: { pool: pg.Pool; logger: Logger }): JobWatch {
  const { pool, logger } = options;
  const closing = new AbortController();
  const wakers = new Map<string, Set<() => void>>();
  let loop: Promise<void> | undefined;

  function wake(payload: string): void {
    for (const address of payload.split(',')) {
      for (const waker of wakers.get(address) ?? []) waker();
    }
  }

  /** Listens until the connection ends. */
  async function listen(onListening: () => void): Promise<void> {
    const client = await pool.connect();
    const ended = new Promise<void>((resolve) => {
      client.once('error', () => resolve());
      client.once('end', () => resolve());
      closing.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload }) => wake(payload ?? ''));
    try {
      await client.query('listen mirror_jobs');
      onListening();
      await ended;
    } finally {
      client.release(true);
    }
  }

  async function run(onListening: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await listen(onListening);
      } catch (error) {
        logger.warn({ msg: 'Lost the notifications of the mirror', err: error });
      }
      await delay(RECONNECT_INTERVAL_MS, closing.signal);
    }
  }

  function nextChange(address: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        const set = wakers.get(address);
        set?.delete(finish);
        if (set?.size === 0) wakers.delete(address);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      const set = wakers.get(address) ?? new Set();
      wakers.set(address, set.add(finish));
    });
  }

  return {
    async start() {
      await new Promise<void>((resolve) => {
        loop = run(resolve);
      });
    },
    async close() {
      closing.abort();
      await loop;
    },
    async waitFor(address, isReached, timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        // Registered before the read, so that a change between read and wait is not missed.
        const left = deadline - performance.now();
        const change = nextChange(address, Math.max(0, Math.min(left, POLL_INTERVAL_MS)));
        const progress = await selectJobProgress(pool, address);
        if (progress && isReached(progress)) return progress;
        if (left <= 0) return undefined;
        await change;
      }
    },
    async hint(signature) {
      await pool.query(`select pg_notify('ledger_hint', $1)`, [signature]);
    },
  };
}
