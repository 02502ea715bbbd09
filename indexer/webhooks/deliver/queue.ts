import { PgBoss } from 'pg-boss';
import type { Database } from '../../../common/postgres.ts';

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

export const QUEUE_NAME = 'webhook-attempts';
/** Told of attempts that are due at once. */
export const DUE_CHANNEL = 'webhook_attempts_due';

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
