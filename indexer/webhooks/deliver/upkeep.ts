import type pg from 'pg';
import type { Logger } from '../../../common/logger.ts';
import type { Database } from '../../../common/postgres.ts';
import { delay } from '../../../common/wait.ts';
import { classify, FatalError } from '../../source/errors.ts';
import { concludeAttempt, lockWebhook } from './conclude.ts';
import { EXCHANGE_MS_MAX, type Outcome } from './exchange.ts';
import { measureBacklog, type WebhookMetrics } from './metrics.ts';
import type { AttemptJob, DeliveryQueue, DueDelivery } from './queue.ts';
import { setOneAside } from './setAside.ts';

/** How long deliveries can be looked up and replayed, whatever became of them. */
const KEPT_DAYS = 30;
/** In one statement, so that none takes long. */
const DELETED_AT_ONCE = 1_000;
/** In one run: more than a process delivers between two of them, and done within seconds. */
const BATCHES_MAX = 30;

/**
 * Forgets old deliveries with their attempts, all that there are; a bounded number, since there is
 * a next time.
 *
 * @param signal ends it after the batch it is at
 */
export async function deleteOldDeliveries(database: Database, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    // What another process is deleting is left to it.
    const { rowCount } = await database.query(
      `delete from service.webhook_deliveries where id in (
         select id from service.webhook_deliveries
         where status <> 'pending' and stored_at < now() - $1 * interval '1 day'
         order by stored_at limit $2
         for update skip locked
       )`,
      [KEPT_DAYS, DELETED_AT_ONCE],
    );
    if ((rowCount ?? 0) < DELETED_AT_ONCE || signal.aborted) return;
  }
}

/** Long enough for an attempt that is under way to be concluded. */
const OVERDUE_SECONDS = 60;
const OVERDUE_MAX = 1_000;

/**
 * Attempts that should have been made or concluded, the longest due first; a bounded number. One
 * that was begun and has no end is settled before the next is made. With the queue, the owner's
 * wish is lost: a replay to a webhook that has failed is set aside, to be replayed once more.
 */
export async function selectOverdue(database: Database): Promise<DueDelivery[]> {
  const { rows } = await database.query<{ id: bigint; webhook_id: string; attempt: number }>(
    `select id, webhook_id, coalesce(begun.attempt, attempts + 1) as attempt
     from service.webhook_deliveries
     left join service.webhook_attempts begun on delivery_id = id and begun.attempt = attempts
       and duration_ms is null and error is null
     where status = 'pending' and due_at < now() - $1 * interval '1 second'
       and (begun.attempt is null or started_at < now() - $1 * interval '1 second')
     order by due_at, id limit $2`,
    [OVERDUE_SECONDS, OVERDUE_MAX],
  );
  return rows.map(({ id, webhook_id, attempt }) => ({
    ...{ id, attempt },
    ...{ webhookId: webhook_id, dueAt: null },
  }));
}

const INTERRUPTED: Outcome = {
  error: 'interrupted',
  statusCode: null,
  response: null,
  durationMs: null,
};

/**
 * Settles an attempt that could not be claimed. Either there is nothing to do any more; or it was
 * begun by a process that died: then it counts, and ended when its time was up at the latest.
 *
 * @returns how it ended, if it was begun
 */
export async function settleUnclaimed(
  database: Database,
  queue: DeliveryQueue,
  job: AttemptJob,
): Promise<Outcome | undefined> {
  const webhook = await lockWebhook(database, job.deliveryId);
  const { beganAt, isNext } = await selectState(database, job);
  if (beganAt) {
    const endedAt = new Date(beganAt.getTime() + EXCHANGE_MS_MAX);
    await concludeAttempt(database, queue, { job, outcome: INTERRUPTED, endedAt });
    return INTERRUPTED;
  }
  const isRefused =
    webhook?.status === 'disabled' || (webhook?.status === 'failed' && !job.isRequested);
  // It was queued anew just now, or waits for the attempt before it: then it is handed out again.
  if (isNext && !isRefused) return undefined;
  // An event that was announced just when its webhook was disabled or given up is kept, too.
  if (isNext) await setOneAside(database, job.deliveryId);
  await queue.remove(database, job);
  return undefined;
}

async function selectState(
  database: Database,
  { deliveryId, attempt }: AttemptJob,
): Promise<{ beganAt?: Date | null; isNext?: boolean }> {
  const { rows } = await database.query<{ beganAt: Date | null; isNext: boolean }>(
    `select started_at as "beganAt", status = 'pending' and attempts = $2 - 1 as "isNext"
     from service.webhook_deliveries
     left join service.webhook_attempts begun on delivery_id = id and begun.attempt = $2
       and duration_ms is null and error is null
     where id = $1`,
    [deliveryId, attempt],
  );
  return rows[0] ?? {};
}

/** What has to be done now and then, by any number of processes. */
interface Upkeep {
  start(): void;
  stop(): Promise<void>;
}

const INTERVAL_MS = 15_000;

/** @param options.onFatal told of an error that trying again cannot mend; nothing runs any more then */
export function createUpkeep(options: {
  pool: pg.Pool;
  queue: DeliveryQueue;
  metrics: Pick<WebhookMetrics, 'backlog'>;
  logger: Logger;
  onFatal: (error: FatalError) => void;
}): Upkeep {
  const { pool, queue, metrics, logger, onFatal } = options;
  const stopping = new AbortController();
  let running = Promise.resolve();

  async function round(): Promise<void> {
    // Those that are queued stay as they are: only what the queue has lost is put there again.
    await queue.add(pool, await selectOverdue(pool));
    metrics.backlog(await measureBacklog(pool));
    await deleteOldDeliveries(pool, stopping.signal);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await round();
      } catch (error) {
        const failure = classify(error);
        if (failure instanceof FatalError) return onFatal(failure);
        logger.warn({ msg: 'Failed to look after the webhooks', reason: failure.message });
      }
      await delay(INTERVAL_MS, stopping.signal);
    }
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
