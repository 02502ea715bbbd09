import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import { connectionOf } from '../../common/database/connection.ts';
import type { Logger } from '../../common/logger.ts';
import { within } from '../../common/wait.ts';
import {
  deleteOldDeliveries,
  deleteOldKeys,
  deleteOldMeasurements,
  deleteOldRequests,
  deleteOldSessions,
} from './expiredRows.ts';

/** Work that one of all processes does once a minute. */
type Work = (database: pg.Pool, signal: AbortSignal) => Promise<void>;

const WORK: Readonly<Record<string, Work>> = {
  'delete-old-deliveries': deleteOldDeliveries,
  'delete-old-keys': deleteOldKeys,
  'delete-old-measurements': deleteOldMeasurements,
  'delete-old-requests': deleteOldRequests,
  'delete-old-sessions': deleteOldSessions,
};

const EVERY_MINUTE = '* * * * *';
/** Work that takes longer counts as lost with its process. */
const WORK_SECONDS_MAX = 900;
const POLL_SECONDS = 5;
const CLOSING_MS_MAX = 5_000;

/**
 * Schedules this work with pg-boss, so that one of all processes, also of those on standby, does each
 * once a minute. What fails is done a minute later.
 *
 * @param options.pool where the work is done
 * @param options.queryTimeoutMs after which pg-boss's database counts as away, as in `createPool`
 * @param options.pollSeconds between two looks for work; half a second at least
 * @throws what the database throws while pg-boss makes its tables
 */
export async function startBackgroundJobs(options: {
  pool: pg.Pool;
  databaseUrl: string;
  queryTimeoutMs?: number;
  pollSeconds?: number;
  logger: Logger;
}): Promise<{ close(): Promise<void> }> {
  const { pool, databaseUrl, queryTimeoutMs, pollSeconds = POLL_SECONDS, logger } = options;
  const closing = new AbortController();
  const boss = new PgBoss({
    // No setting of pg-boss, which passes all of these on to its pool.
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    ...connectionOf(databaseUrl),
    application_name: 'svc-background-jobs',
    max: 1,
  });
  boss.on('error', ({ message }) => {
    logger.warn({ msg: 'pg-boss failed to maintain the background jobs', reason: message });
  });
  boss.on('warning', ({ message }) => {
    logger.warn({ msg: 'pg-boss warned of the background jobs', reason: message });
  });
  try {
    await boss.start();
    for (const [name, work] of Object.entries(WORK)) {
      // At most one waits, so that missed minutes are not made up for.
      await boss.createQueue(name, { policy: 'short', retryLimit: 0 });
      await boss.updateQueue(name, { expireInSeconds: WORK_SECONDS_MAX });
      await boss.schedule(name, EVERY_MINUTE);
      await boss.work(name, { pollingIntervalSeconds: pollSeconds }, async () => {
        try {
          await work(pool, closing.signal);
        } catch (error) {
          logger.warn({ msg: 'Failed in a background job', job: name, err: error });
        }
      });
    }
  } catch (error) {
    // The next attempt begins with another one.
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
  return {
    async close() {
      closing.abort();
      // pg-boss would look only every 500 ms whether they have ended.
      const ended = Promise.all(Object.keys(WORK).map((name) => boss.offWork(name)));
      await within(CLOSING_MS_MAX, ended);
      await boss.stop({ graceful: false });
    },
  };
}
