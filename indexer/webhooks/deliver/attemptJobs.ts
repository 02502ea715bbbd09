import { PgBoss } from 'pg-boss';
import type { Logger } from '../../../common/logger.ts';
import { type AttemptJob, DUE_CHANNEL, QUEUE_NAME, type TakenAttempt, type Turn } from './queue.ts';
import { selectWallets, selectWebhooksOf } from './shares.ts';

/** The attempts that processes take from each other's reach, as pg-boss hands them out. */
export interface AttemptJobs {
  readonly boss: PgBoss;
  /** Takes attempts that are due, the oldest first; nobody else gets them. */
  take(turn: Turn): Promise<TakenAttempt[]>;
  /** Calls back when attempts have become due at once; now and then, it may miss some. */
  listen(onDue: () => void): Promise<void>;
  close(): Promise<void>;
}

/** An attempt as the queue keeps it, in JSON. */
type QueuedAttempt = Omit<AttemptJob, 'deliveryId'> & { readonly deliveryId: string };

/** Far longer than an exchange: what was taken so long ago was taken by a process that died. */
const TAKEN_SECONDS_MAX = 60;

/** How often pg-boss looks for those. */
const SUPERVISE_SECONDS = 10;

/**
 * pg-boss deletes what was queued for this long. Longer than anything waits here; and what is lost
 * nevertheless is queued again.
 */
const RETENTION_SECONDS = 30 * 86_400;

/**
 * Only taking and timing is left to pg-boss. Its own workers would take one attempt a second each,
 * and its own retries follow another schedule than the contract's.
 */
export async function openAttemptJobs(options: {
  databaseUrl: string;
  /** As of `createPool`. */
  queryTimeoutMs?: number;
  logger: Logger;
}): Promise<AttemptJobs> {
  const { databaseUrl, queryTimeoutMs, logger } = options;
  const boss = new PgBoss({
    // Not among its own settings: it gives what it is given to its pool.
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    connectionString: databaseUrl,
    application_name: 'svc-webhooks',
    max: 2,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', ({ message }) => {
    logger.warn({ msg: 'Failed to look after the webhook queue', reason: message });
  });
  boss.on('warning', ({ message }) => {
    logger.warn({ msg: 'Noticed something about the webhook queue', reason: message });
  });
  try {
    await boss.start();
    await boss.createQueue(QUEUE_NAME, {
      expireInSeconds: TAKEN_SECONDS_MAX,
      retentionSeconds: RETENTION_SECONDS,
      // What a dead process had taken is handed out again, however often that happens.
      retryLimit: 1_000_000,
      retryDelay: 0,
    });
  } catch (error) {
    // Whoever tries again begins with another one.
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
  const database = boss.getDb();
  const listeners: { close(): Promise<void> }[] = [];
  return {
    boss,
    async take({ max, webhookMax, exceptWallets }) {
      const taken = await boss.fetch<QueuedAttempt>(QUEUE_NAME, {
        batchSize: max,
        groupConcurrency: webhookMax,
        ignoreGroups: await selectWebhooksOf(database, exceptWallets),
      });
      const jobs = taken.map(({ data, groupId }) => ({
        ...{ ...data, deliveryId: BigInt(data.deliveryId), webhookId: groupId ?? '' },
      }));
      const webhookIds = jobs.map(({ webhookId }) => webhookId);
      // What is taken has to be begun, or it would wait for a minute: without a wallet, if need be.
      const wallets = await selectWallets(database, webhookIds).catch((error: unknown) => {
        logger.warn({ msg: 'Failed to learn whose webhooks these are', err: error });
        return new Map<string, string>();
      });
      return jobs
        .map(({ webhookId, ...job }) => ({ ...job, wallet: wallets.get(webhookId) ?? '' }))
        .sort((left, right) => (left.deliveryId < right.deliveryId ? -1 : 1));
    },
    async listen(onDue) {
      const listener = await database.listen?.(DUE_CHANNEL, onDue, onDue);
      if (listener) listeners.push(listener);
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()));
      // Whoever still makes an attempt does so on another connection, and pg-boss must not take it
      // from them.
      await boss.stop({ graceful: false });
    },
  };
}
