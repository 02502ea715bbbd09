import type { Database } from '../../../common/postgres.ts';
import { markAllUndelivered, markUndelivered } from '../../../webhookOperations/markUndelivered.ts';
import { type AttemptId, release } from './claim.ts';
import { type AttemptResult, EXCHANGE_MS_MAX } from './exchange.ts';

/**
 * How long each attempt waits, counted from the end of the one before it. These are the numbers of
 * the interface: no setting changes them.
 */
const ATTEMPT_DELAYS_MS = [0, 30_000, 300_000, 1_800_000, 7_200_000] as const;

/** An attempt and how it ended. */
export interface EndedAttempt {
  readonly id: AttemptId;
  readonly result: AttemptResult;
}

/**
 * Stores the results of attempts whose receivers accepted the event: the deliveries are made. A
 * webhook that had failed is active again, unless its url is another one by now. An attempt that was
 * concluded before is left as it is.
 * The webhooks are locked in the order of their ids, as in every statement that locks several.
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
        returning attempt.delivery_id, url
      ), reactivated as (
        update service.webhooks webhook set status = 'active'
        from locked join noted on noted.delivery_id = locked.id
        where webhook.id = locked.webhook_id and webhook.status = 'failed'
          and coalesce(noted.url, webhook.url) = webhook.url
      )
      update service.webhook_deliveries delivery
      set taken_until = null, status = 'delivered', due_at = null, is_requested = false,
        delivered_at = now()
      from noted where delivery.id = noted.delivery_id`,
    values: [
      attempts.map(({ id }) => id.deliveryId),
      attempts.map(({ id }) => id.attempt),
      attempts.map(({ result }) => result.durationMs),
      attempts.map(({ result }) => result.statusCode),
      attempts.map(({ result }) => result.response),
    ],
  });
  return attempts.map(() => undefined);
}

/**
 * Stores how an attempt failed, and what follows: the delivery is tried again later or given up.
 * With its last attempt the webhook fails, too, unless its url is another one by now. To be called in
 * a database transaction.
 *
 * @param endedAt when it ended; null: now
 */
export async function concludeFailed(
  database: Database,
  { id, result, endedAt }: EndedAttempt & { endedAt: Date | null },
): Promise<void> {
  const webhook = await lockWebhook(database, id.deliveryId);
  // It was deleted during the attempt, and its deliveries with it.
  if (!webhook) return;
  // Another process presumed this one dead, has concluded the attempt, and may make the next.
  if (!(await storeEnd(database, id, result))) return;
  await release(database, id.deliveryId);
  const { isTest, isPending, wasDelivered, url } = await selectDelivery(database, id);
  // Its webhook was disabled or given up since, and its owner may have replayed it.
  if (!isPending) return;
  // Undefined after the last attempt.
  const delayMs = isTest ? undefined : ATTEMPT_DELAYS_MS[id.attempt];
  if (delayMs !== undefined) {
    await postpone(database, id.deliveryId, { endedAt, delayMs });
    return;
  }
  await giveUp(database, id.deliveryId);
  // One that was sent again after it had arrived says little of the webhook, and an old url nothing.
  const isItsFault = !isTest && !wasDelivered && url === webhook.url;
  if (isItsFault && id.attempt === ATTEMPT_DELAYS_MS.length) {
    await failWebhook(database, webhook.id);
  }
}

const INTERRUPTED: AttemptResult = {
  error: 'interrupted',
  statusCode: null,
  response: null,
  durationMs: null,
};

/**
 * Settles a claimed attempt that could not be started. Either there is nothing to do any more, or a
 * process that died had started it. Then it counts, and ended when its time was up at the latest.
 *
 * @returns its result, if a process had started it
 */
export async function settleUnstarted(
  database: Database,
  id: AttemptId,
): Promise<AttemptResult | undefined> {
  const webhook = await lockWebhook(database, id.deliveryId);
  const { upAt, isUp, isNext, isRequested } = await selectState(database, id);
  // Another process presumed this one dead, and makes it now.
  if (upAt && !isUp) return undefined;
  if (upAt) {
    await concludeFailed(database, { id, result: INTERRUPTED, endedAt: upAt });
    return INTERRUPTED;
  }
  const isRefused =
    webhook?.status === 'disabled' || (webhook?.status === 'failed' && !isRequested);
  // An event that was announced just when its webhook was disabled or given up is kept, too.
  if (isNext && isRefused) await markUndelivered(database, [id.deliveryId]);
  await release(database, id.deliveryId);
  return undefined;
}

interface LockedWebhook {
  readonly id: string;
  readonly url: string;
  readonly status: string;
}

/**
 * Locks the webhook of a delivery. Every change of deliveries begins with that, so that no two wait
 * for each other.
 *
 * @returns undefined when the webhook was deleted
 */
async function lockWebhook(
  database: Database,
  deliveryId: bigint,
): Promise<LockedWebhook | undefined> {
  const { rows } = await database.query<LockedWebhook>({
    name: 'lock_webhook_of_delivery',
    text: `
      select id, url, status from service.webhooks
      where id = (select webhook_id from service.webhook_deliveries where id = $1)
      for no key update`,
    values: [deliveryId],
  });
  return rows[0];
}

/** @returns whether the attempt had no end before */
async function storeEnd(
  database: Database,
  { deliveryId, attempt }: AttemptId,
  { durationMs, statusCode, error, response }: AttemptResult,
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'store_attempt_end',
    text: `
      update service.webhook_attempts
      set duration_ms = $3, status_code = $4, error = $5, response = $6
      where delivery_id = $1 and attempt = $2 and duration_ms is null and error is null`,
    values: [deliveryId, attempt, durationMs, statusCode, error, response],
  });
  return rowCount === 1;
}

interface AttemptedDelivery {
  readonly isTest: boolean;
  /** The attempt was to be made, and decides. */
  readonly isPending: boolean;
  readonly wasDelivered: boolean;
  /** Where the attempt went. */
  readonly url: string;
}

async function selectDelivery(
  database: Database,
  { deliveryId, attempt }: AttemptId,
): Promise<Partial<AttemptedDelivery>> {
  const { rows } = await database.query<AttemptedDelivery>({
    name: 'select_delivery',
    text: `
      select url, signature is null as "isTest",
        status = 'pending' and due_at <= started_at as "isPending", exists (
        select from service.webhook_attempts
        where delivery_id = id and duration_ms is not null and error is null
      ) as "wasDelivered"
      from service.webhook_deliveries
      join service.webhook_attempts on delivery_id = id and attempt = $2
      where id = $1`,
    values: [deliveryId, attempt],
  });
  return rows[0] ?? {};
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

async function giveUp(database: Database, id: bigint): Promise<void> {
  await database.query({
    name: 'give_up_delivery',
    text: `
      update service.webhook_deliveries
      set status = 'failed', due_at = null, is_requested = false
      where id = $1`,
    values: [id],
  });
}

/** Nothing more is sent to it until a replay succeeds or its owner says so. */
async function failWebhook(database: Database, webhookId: string): Promise<void> {
  const { rowCount } = await database.query(
    `update service.webhooks set status = 'failed' where id = $1 and status = 'active'`,
    [webhookId],
  );
  if (rowCount === 1) await markAllUndelivered(database, webhookId);
}

interface AttemptState {
  /** When the attempt's time is up, if it was started and has no end. */
  readonly upAt: Date | null;
  readonly isUp: boolean;
  /** The attempt is the one to be made next. */
  readonly isNext: boolean;
  /** Its owner asked for it, by a replay or a test: it goes to a webhook that has failed, too. */
  readonly isRequested: boolean;
}

async function selectState(
  database: Database,
  { deliveryId, attempt }: AttemptId,
): Promise<Partial<AttemptState>> {
  const { rows } = await database.query<AttemptState>(
    `select up_at as "upAt", up_at <= now() as "isUp",
       status = 'pending' and attempts = $2 - 1 as "isNext", is_requested as "isRequested"
     from service.webhook_deliveries
     left join lateral (
       select started_at + $3 * interval '1 millisecond' as up_at from service.webhook_attempts
       where delivery_id = id and attempt = $2 and duration_ms is null and error is null
     ) started on true
     where id = $1`,
    [deliveryId, attempt, EXCHANGE_MS_MAX],
  );
  return rows[0] ?? {};
}
