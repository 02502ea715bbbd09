import type { Database } from '../../../common/postgres.ts';
import { concludeAttempt } from './concludeAttempt.ts';
import { lockWebhook } from './lockWebhook.ts';
import type { Outcome } from './outcome.ts';
import type { AttemptJob, DeliveryQueue } from './queue.ts';
import { EXCHANGE_MS_MAX } from './schedule.ts';
import { setOneAside } from './setAside.ts';

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
