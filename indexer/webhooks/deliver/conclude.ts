import type { Database } from '../../../common/postgres.ts';
import { setAside, setOneAside } from '../../../webhookOperations/setAside.ts';
import { EXCHANGE_MS_MAX, type Outcome } from './exchange.ts';
import { ATTEMPTS_MAX, delayAfter } from './schedule.ts';
import { type AttemptJob, giveBack } from './take.ts';

/**
 * Locks the webhook of a delivery. Whoever changes deliveries does so first, so that nobody waits
 * for each other in a circle.
 *
 * @returns undefined when the webhook was deleted
 */
async function lockWebhook(
  database: Database,
  deliveryId: bigint,
): Promise<{ id: string; status: string } | undefined> {
  const { rows } = await database.query<{ id: string; status: string }>({
    name: 'lock_webhook_of_delivery',
    text: `
      select id, status from service.webhooks
      where id = (select webhook_id from service.webhook_deliveries where id = $1)
      for no key update`,
    values: [deliveryId],
  });
  return rows[0];
}

/**
 * Writes how an attempt ended, and what follows: the delivery is made, tried again later, or given
 * up, and with its last attempt the webhook too. To be called in a database transaction.
 *
 * @param endedAt when it ended; null: now
 */
export async function concludeAttempt(
  database: Database,
  { job, outcome, endedAt }: { job: AttemptJob; outcome: Outcome; endedAt: Date | null },
): Promise<void> {
  const webhook = await lockWebhook(database, job.deliveryId);
  // Deleted meanwhile, and its deliveries with it.
  if (!webhook) return;
  // Somebody else took this process for dead, has concluded the attempt, and may make the next.
  if (!(await noteEnd(database, job, outcome))) return;
  await giveBack(database, job.deliveryId);
  if (outcome.error === null) {
    await endDelivery(database, job.deliveryId, 'delivered');
    if (webhook.status === 'failed') await reactivate(database, webhook.id);
    return;
  }
  const { isTest, isPending, wasDelivered } = await selectDelivery(database, job);
  // Its webhook was disabled or given up since, and its owner may have replayed it.
  if (!isPending) return;
  const delayMs = isTest ? undefined : delayAfter(job.attempt);
  if (delayMs === undefined) {
    await endDelivery(database, job.deliveryId, 'failed');
    // One that was sent again after it had arrived says little of the webhook.
    if (!isTest && !wasDelivered && job.attempt === ATTEMPTS_MAX)
      await failWebhook(database, webhook.id);
    return;
  }
  await postpone(database, job.deliveryId, { endedAt, delayMs });
}

/** An attempt and how it ended. */
export interface EndedAttempt {
  readonly job: AttemptJob;
  readonly outcome: Outcome;
}

/**
 * What `concludeAttempt` does, for attempts whose receivers accepted the event, in one statement. The
 * webhooks are locked in the order of their ids, as by everyone who locks several.
 */
export async function concludeDelivered(
  database: Database,
  attempts: readonly EndedAttempt[],
): Promise<undefined[]> {
  await database.query({
    name: 'conclude_delivered',
    text: `
      with given as (
        select * from unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::text[])
          as given (delivery_id, attempt, duration_ms, status_code, response)
      ), locked as (
        select delivery.id, webhook.id as webhook_id
        from given join service.webhook_deliveries delivery on delivery.id = given.delivery_id
        join service.webhooks webhook on webhook.id = delivery.webhook_id
        order by webhook.id for no key update of webhook
      ), noted as (
        update service.webhook_attempts attempt
        set duration_ms = given.duration_ms, status_code = given.status_code,
          response = given.response
        from given join locked on locked.id = given.delivery_id
        where attempt.delivery_id = given.delivery_id and attempt.attempt = given.attempt
          and attempt.duration_ms is null and error is null
        returning attempt.delivery_id
      ), reactivated as (
        update service.webhooks webhook set status = 'active'
        from locked join noted on noted.delivery_id = locked.id
        where webhook.id = locked.webhook_id and webhook.status = 'failed'
      )
      update service.webhook_deliveries delivery
      set taken_until = null, status = 'delivered', due_at = null, is_requested = false,
        delivered_at = now()
      from noted where delivery.id = noted.delivery_id`,
    values: [
      attempts.map(({ job }) => job.deliveryId),
      attempts.map(({ job }) => job.attempt),
      attempts.map(({ outcome }) => outcome.durationMs),
      attempts.map(({ outcome }) => outcome.statusCode),
      attempts.map(({ outcome }) => outcome.response),
    ],
  });
  return attempts.map(() => undefined);
}

async function noteEnd(database: Database, job: AttemptJob, outcome: Outcome): Promise<boolean> {
  const { deliveryId, attempt } = job;
  const { durationMs, statusCode, error, response } = outcome;
  const { rowCount } = await database.query({
    name: 'note_attempt_end',
    text: `
      update service.webhook_attempts
      set duration_ms = $3, status_code = $4, error = $5, response = $6
      where delivery_id = $1 and attempt = $2 and duration_ms is null and error is null`,
    values: [deliveryId, attempt, durationMs, statusCode, error, response],
  });
  return rowCount === 1;
}

async function reactivate(database: Database, webhookId: string): Promise<void> {
  await database.query(`update service.webhooks set status = 'active' where id = $1`, [webhookId]);
}

async function selectDelivery(
  database: Database,
  { deliveryId, attempt }: AttemptJob,
): Promise<{ isTest: boolean; isPending: boolean; wasDelivered: boolean }> {
  const { rows } = await database.query<{
    is_test: boolean;
    is_pending: boolean;
    was_delivered: boolean;
  }>({
    name: 'select_delivery',
    text: `
      select signature is null as is_test,
        status = 'pending' and due_at <= started_at as is_pending, exists (
        select from service.webhook_attempts
        where delivery_id = id and duration_ms is not null and error is null
      ) as was_delivered
      from service.webhook_deliveries
      join service.webhook_attempts on delivery_id = id and attempt = $2
      where id = $1`,
    values: [deliveryId, attempt],
  });
  const [row] = rows;
  return {
    isTest: row?.is_test ?? false,
    isPending: row?.is_pending ?? false,
    wasDelivered: row?.was_delivered ?? false,
  };
}

async function endDelivery(
  database: Database,
  id: bigint,
  status: 'delivered' | 'failed',
): Promise<void> {
  await database.query({
    name: 'end_delivery',
    text: `
      update service.webhook_deliveries
      set status = $2, due_at = null, is_requested = false,
        delivered_at = case when $2 = 'delivered' then now() end
      where id = $1`,
    values: [id, status],
  });
}

/** Nothing more is sent to it until a replay succeeds or its owner says so. */
async function failWebhook(database: Database, webhookId: string): Promise<void> {
  const { rowCount } = await database.query(
    `update service.webhooks set status = 'failed' where id = $1 and status = 'active'`,
    [webhookId],
  );
  if (rowCount === 1) await setAside(database, webhookId);
}

async function postpone(
  database: Database,
  id: bigint,
  { endedAt, delayMs }: { endedAt: Date | null; delayMs: number },
): Promise<void> {
  await database.query({
    name: 'postpone_delivery',
    text: `
      update service.webhook_deliveries
      set due_at = coalesce($2, clock_timestamp()) + $3 * interval '1 millisecond'
      where id = $1`,
    values: [id, endedAt, delayMs],
  });
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
  job: AttemptJob,
): Promise<Outcome | undefined> {
  const webhook = await lockWebhook(database, job.deliveryId);
  const { upAt, isUp, isNext, isRequested } = await selectState(database, job);
  // Another process took it for dead, and makes it now.
  if (upAt && !isUp) return undefined;
  if (upAt) {
    await concludeAttempt(database, { job, outcome: INTERRUPTED, endedAt: upAt });
    return INTERRUPTED;
  }
  const isRefused =
    webhook?.status === 'disabled' || (webhook?.status === 'failed' && !isRequested);
  // An event that was announced just when its webhook was disabled or given up is kept, too.
  if (isNext && isRefused) await setOneAside(database, job.deliveryId);
  await giveBack(database, job.deliveryId);
  return undefined;
}

interface AttemptState {
  /** When the attempt's time is up, if it was begun and has no end. */
  readonly upAt: Date | null;
  readonly isUp: boolean;
  /** The attempt is the one to be made next. */
  readonly isNext: boolean;
  /** Its owner asked for it, by a replay or a test: it goes to a webhook that has failed, too. */
  readonly isRequested: boolean;
}

async function selectState(
  database: Database,
  { deliveryId, attempt }: AttemptJob,
): Promise<Partial<AttemptState>> {
  const { rows } = await database.query<AttemptState>(
    `select up_at as "upAt", up_at <= now() as "isUp",
       status = 'pending' and attempts = $2 - 1 as "isNext", is_requested as "isRequested"
     from service.webhook_deliveries
     left join lateral (
       select started_at + $3 * interval '1 millisecond' as up_at from service.webhook_attempts
       where delivery_id = id and attempt = $2 and duration_ms is null and error is null
     ) begun on true
     where id = $1`,
    [deliveryId, attempt, EXCHANGE_MS_MAX],
  );
  return rows[0] ?? {};
}
