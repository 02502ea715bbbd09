import { PgBoss } from 'pg-boss';
import type { Logger } from '../../../common/logger.ts';
import type { Database } from '../../../common/postgres.ts';
import { selectWallets, selectWebhooksOf } from './shares.ts';

/** An attempt that is to be made. */
export interface DueDelivery {
  readonly id: bigint;
  readonly webhookId: string;
  /** From 1. */
  readonly attempt: number;
  /** Null: now. */
  readonly dueAt: Date | null;
  /** Its owner asked for it, by a replay or a test: it goes to a webhook that has failed, too. */
  readonly isRequested?: boolean | undefined;
}

/** An attempt that this process is to make. */
export interface AttemptJob {
  readonly deliveryId: bigint;
  readonly attempt: number;
  /** As in `DueDelivery`. */
  readonly isRequested?: boolean | undefined;
}

/** One that nobody else is going to make. */
export interface TakenAttempt extends AttemptJob {
  /** Whose webhook it is; empty when that was deleted. */
  readonly wallet: string;
}

/** Attempts to be made, in pg-boss: it lets each of them be taken by one process only. */
export interface DeliveryQueue {
  /** Adds attempts in the caller's database transaction; those that are there stay as they are. */
  add(database: Database, due: readonly DueDelivery[]): Promise<void>;
  /** Adds attempts, due as said here, also where they were there, due at another time. */
  put(database: Database, due: readonly DueDelivery[]): Promise<void>;
  /** Takes an attempt away for good, in the caller's database transaction. */
  remove(database: Database, job: AttemptJob): Promise<void>;
}

const QUEUE_NAME = 'webhook-attempts';
/** Told of attempts that are due at once. */
const DUE_CHANNEL = 'webhook_attempts_due';

export function createDeliveryQueue(boss: Pick<PgBoss, 'insert' | 'deleteJob'>): DeliveryQueue {
  async function add(database: Database, due: readonly DueDelivery[]): Promise<void> {
    if (due.length === 0) return;
    const jobs = due.map(({ id, webhookId, attempt, dueAt, isRequested }) => ({
      id: jobIdOf({ deliveryId: id, attempt }),
      data: { deliveryId: id.toString(), attempt, ...(isRequested && { isRequested }) },
      group: { id: webhookId },
      ...(dueAt && { startAfter: dueAt }),
    }));
    await boss.insert(QUEUE_NAME, jobs, { db: executing(database) });
    if (due.some(({ dueAt }) => dueAt === null)) {
      await database.query(`select pg_notify('${DUE_CHANNEL}', '')`);
    }
  }

  return {
    add,
    async put(database, due) {
      if (due.length === 0) return;
      const ids = due.map(({ id, attempt }) => jobIdOf({ deliveryId: id, attempt }));
      await boss.deleteJob(QUEUE_NAME, ids, { db: executing(database) });
      await add(database, due);
    },
    async remove(database, job) {
      await boss.deleteJob(QUEUE_NAME, jobIdOf(job), { db: executing(database) });
    },
  };
}

/** For a process that only adds attempts, and leaves making them to the indexer. */
export function openDeliveryQueue(): DeliveryQueue {
  const on = (database: Database) => createDeliveryQueue(new PgBoss({ db: executing(database) }));
  return {
    add: (database, due) => on(database).add(database, due),
    put: (database, due) => on(database).put(database, due),
    remove: (database, job) => on(database).remove(database, job),
  };
}

/** pg-boss's view of a connection. */
function executing(database: Database) {
  return { executeSql: (text: string, values?: unknown[]) => database.query(text, values) };
}

/**
 * The UUID of an attempt: each has one, so that adding it again does nothing. In the order of
 * deliveries, which is the one that pg-boss keeps among jobs of the same age.
 */
function jobIdOf({ deliveryId, attempt }: AttemptJob): string {
  return attempt.toString(16).padStart(16, '0') + deliveryId.toString(16).padStart(16, '0');
}

/** What may be taken at once. */
export interface Turn {
  readonly max: number;
  /** At the same time to one webhook, with those that any process has taken before. */
  readonly webhookMax: number;
  /** Whose webhooks are passed over. */
  readonly exceptWallets: readonly string[];
}

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
