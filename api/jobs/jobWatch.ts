import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type JobNotice, readNotices } from '../../common/database/mirrorNotices.ts';
import { listen } from '../../common/listen.ts';
import type { Logger } from '../../common/logger.ts';
import { batched } from '../../common/postgres.ts';
import { type Background, systemTime, type Time } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import { toBase58 } from '../../programs/client/keys.ts';
import type { JobResult, LockedJob } from '../ledger/job.ts';
import { type JobProgress, selectJobsProgress } from '../sql/jobs.ts';

/** Besides the notifications: one may be lost while the listening connection is renewed. */
const POLL_INTERVAL_MS = 500;
/** Jobs whose last notification is remembered: many more than end at once. */
const JOBS_KEPT_MAX = 10_000;
/** Statements that several jobs share. */
const SHARED = { itemsMax: 256, callsMax: 2 };

type MirrorWait = { timeoutMs: number; signal?: AbortSignal } & {
  [Ms in 'sinceMs' | 'silenceMs']?: number | undefined;
};

export type JobWatch = ReturnType<typeof createJobWatch>;

/** Waits until the mirror shows what the ledger has already confirmed. */
export function createJobWatch(options: { pool: pg.Pool; logger: Logger; time?: Time }) {
  const { pool, logger, time = systemTime } = options;
  const closing = new AbortController();
  const notifications = createNotifications(time);
  const readProgress = batched<string, JobProgress | undefined>({
    ...SHARED,
    call: (addresses) => selectJobsProgress(pool, addresses),
  });
  const notify = batched<string, void>({
    ...SHARED,
    call: async (signatures) => {
      await pool.query({
        name: 'hint',
        text: `select pg_notify('ledger_hint', signature) from unnest($1::text[]) signature`,
        values: [signatures],
      });
    },
  });
  let loop: Promise<void> | undefined;

  return {
    async start(): Promise<void> {
      await new Promise<void>((resolve) => {
        loop = listen({
          pool,
          channel: 'mirror_jobs',
          signal: closing.signal,
          onNotification: notifications.receive,
          onListening: resolve,
          onLost: (error) =>
            logger.warn({ msg: 'Lost the notifications of the mirror', err: error }),
        });
      });
    },
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
    /**
     * @param wait.sinceMs when, by the watch's time, it had certainly not been reached. The mirror is
     *   read only once it has notified of the job since then
     * @param wait.silenceMs after so long without a notification by the mirror, of whichever job, its
     *   indexer counts as away. This wait ends, and others end at once until there is a notification
     * @returns the job once `isReached` holds in the mirror, or undefined after `timeoutMs`, also
     *   where the database was away, and once the signal aborts
     */
    async waitFor(
      address: string,
      isReached: (progress: JobProgress) => boolean,
      wait: MirrorWait,
    ): Promise<JobProgress | undefined> {
      const { timeoutMs, sinceMs = -Infinity, silenceMs, signal } = wait;
      const startMs = time.nowMs();
      const awayAtMs = (): number => notifications.awayAtMs(startMs, silenceMs);
      let isWorthReading = notifications.lastOf(address).atMs >= sinceMs;
      let hasFailed = false;
      const read = async () => {
        try {
          return await readProgress(address);
        } catch (error) {
          // The database may be back before the time is over; until then nothing is known.
          if (!hasFailed) logger.warn({ msg: 'Failed to read a job from the mirror', err: error });
          hasFailed = true;
          return undefined;
        }
      };
      for (;;) {
        const nowMs = time.nowMs();
        const leftMs = Math.min(startMs + timeoutMs, awayAtMs()) - nowMs;
        // Registered before the read, so that a change between read and wait is not missed.
        const change = notifications.next(address, Math.max(0, Math.min(leftMs, POLL_INTERVAL_MS)));
        const { settled } = notifications.lastOf(address);
        if (settled && isReached(settled)) return settled;
        const progress = isWorthReading ? await read() : undefined;
        if (progress && isReached(progress)) return progress;
        if (leftMs <= 0) {
          if (nowMs >= awayAtMs()) notifications.noteMirrorAway();
          return undefined;
        }
        await change;
        if (signal?.aborted) return undefined;
        isWorthReading = true;
      }
    },
    /** Notifies the indexer that this transaction is confirmed, so that it reads it at once. */
    hint(signature: string): void {
      notify(signature).catch((error: unknown) => {
        // The indexer finds it by itself, a little later.
        logger.warn({ msg: 'Failed to hint at a transaction', err: error });
      });
    },
  };
}

/** A job's last notification. */
interface LastNotice {
  readonly atMs: number;
  /** How the job stands, where the notification says all of it. */
  readonly settled?: JobProgress | undefined;
}

const NONE: LastNotice = { atMs: -Infinity };

function progressOf({ settlementTx, availableCredits }: NonNullable<JobNotice['settled']>) {
  return {
    status: 'settled',
    settlement_tx: settlementTx,
    refund_tx: null,
    dispute_tx: null,
    available_credits: availableCredits,
  } satisfies JobProgress;
}

/** The database's notifications of changed jobs, and when the mirror last sent one. */
function createNotifications(time: Time) {
  const wakers = new Map<string, Set<() => void>>();
  const last = new LRUCache<string, LastNotice>({ max: JOBS_KEPT_MAX });
  let lastOfMirrorMs = -Infinity;
  let isMirrorAway = false;

  return {
    receive(payload: string): void {
      const nowMs = time.nowMs();
      lastOfMirrorMs = nowMs;
      isMirrorAway = false;
      for (const { address, settled } of readNotices(payload)) {
        last.set(address, { atMs: nowMs, settled: settled && progressOf(settled) });
        for (const waker of wakers.get(address) ?? []) waker();
      }
    },
    lastOf: (address: string): LastNotice => last.get(address) ?? NONE,
    /** Resolves with the job's next notification, or after `timeoutMs`. */
    next(address: string, timeoutMs: number): Promise<void> {
      return new Promise((resolve) => {
        const finish = () => {
          cancel();
          const set = wakers.get(address);
          set?.delete(finish);
          if (set?.size === 0) wakers.delete(address);
          resolve();
        };
        const cancel = time.after(timeoutMs, finish);
        const set = wakers.get(address) ?? new Set();
        wakers.set(address, set.add(finish));
      });
    },
    /** When the mirror's indexer counts as away for a wait that began at `startMs`. */
    awayAtMs(startMs: number, silenceMs: number | undefined): number {
      if (silenceMs === undefined) return Infinity;
      return isMirrorAway ? startMs : Math.max(startMs, lastOfMirrorMs) + silenceMs;
    },
    /** Until the mirror's next notification. */
    noteMirrorAway(): void {
      isMirrorAway = true;
    },
  };
}

/** The indexer gets most transactions from the ledger itself before this, and then needs no hint. */
const HINT_AFTER_MS = 50;
/** Many times what the mirror takes while its indexer runs. */
const MIRROR_SILENCE_MS = 2_000;

const hasEnded = ({ status }: JobProgress): boolean => isEnded(status);

export type JobWork = ReturnType<typeof createJobWork>;

/** What this process still does for a locked job, whether or not its client stays. */
export function createJobWork(options: {
  background: Background;
  watch: JobWatch;
  logger: Logger;
}) {
  const { background, watch, logger } = options;
  return {
    /** A shutdown waits for the work. Where it fails, the job is the keeper's: undefined. */
    trackToEnd<Result>(job: LockedJob, work: Promise<Result>): Promise<Result | undefined> {
      const guarded = work.catch((error: unknown) => {
        logger.error({ msg: 'Left a job to the keeper', job_id: job.id, err: error });
        return undefined;
      });
      background.add(guarded);
      return guarded;
    },
    /**
     * Waits for the mirror to show the job's end; undefined when it does not in time, or its indexer
     * is away.
     *
     * @param wait.sinceMs when, by the watch's time, the job had not ended yet
     * @param wait.silenceMs after how much silence the indexer counts as away; undefined: never
     */
    async awaitMirror(
      job: LockedJob,
      { signature }: JobResult,
      wait: MirrorWait,
    ): Promise<JobProgress | undefined> {
      const hinting = signature && setTimeout(() => watch.hint(signature), HINT_AFTER_MS);
      const progress = await watch.waitFor(toBase58(job.address), hasEnded, {
        silenceMs: MIRROR_SILENCE_MS,
        ...wait,
      });
      clearTimeout(hinting || undefined);
      return progress;
    },
  };
}
