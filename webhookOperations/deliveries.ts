import type { Database } from '../common/postgres.ts';
import type { DeliveryStatus } from './deliveryStatuses.ts';
import { type WebhookKey, WebhookNotFoundError } from './webhooks.ts';

/** One webhook, or all of a wallet. */
type WebhookChoice = WebhookKey | { readonly id: null; readonly wallet: string };

/** Some deliveries. What is absent does not matter. */
export interface DeliveryFilter {
  readonly webhook: WebhookChoice;
  readonly ids?: readonly bigint[] | undefined;
  readonly statuses?: readonly DeliveryStatus[] | undefined;
  /** Their kind. */
  readonly event?: string | undefined;
  readonly eventId?: string | undefined;
  readonly jobId?: string | undefined;
  /** By the ledger's time of the event: from the first, up to but without the second. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** The condition on a webhook, on the first two parameters: never both are null. */
export const IS_CHOSEN = '($1::text is null or id = $1) and ($2::text is null or wallet = $2)';

/** The condition on a delivery, on the eight parameters that follow. */
export const MATCHES = `
  ($3::bigint[] is null or id = any($3)) and ($4::text[] is null or status = any($4))
  and ($5::text is null or event = $5) and ($6::text is null or event_id = $6)
  and ($7::text is null or job_id = $7)
  and ($8::timestamptz is null or created_at >= $8)
  and ($9::timestamptz is null or created_at < $9)`;

/** Of both conditions. The next one is the tenth. */
export function parametersOf({ webhook, ...filter }: DeliveryFilter): unknown[] {
  const { ids, statuses, event, eventId, jobId, since, until } = filter;
  const conditions = [ids, statuses, event, eventId, jobId, since, until];
  return [webhook.id, webhook.wallet, ...conditions.map((condition) => condition ?? null)];
}

/** A delivery, with how its last attempt went. */
export interface DeliverySummary {
  readonly id: bigint;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event: string;
  /** Null of an event that is of no job. */
  readonly job_id: string | null;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Of the next attempt; null where none is due yet. */
  readonly due_at: Date | null;
  readonly delivered_at: Date | null;
  /** The transaction of the event; null of a test. */
  readonly signature: string | null;
  /** Null before the first attempt, like `url`; the others may be null besides. */
  readonly started_at: Date | null;
  readonly url: string | null;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

const SUMMARY = `
  delivery.id, webhook_id, event_id, event, job_id, created_at, status, attempts, signature,
  delivered_at, case when due_at < 'infinity' then due_at end as due_at,
  started_at, last.url, duration_ms, status_code, error, response`;

const WITH_LAST_ATTEMPT = `
  service.webhook_deliveries delivery
  left join service.webhook_attempts last
    on last.delivery_id = delivery.id and last.attempt = delivery.attempts`;

/**
 * Deliveries, those of the newest events first. Each webhook has its own page in the index, of which
 * the newest are shown: so it does not matter how many other wallets have.
 *
 * @param page.before continues after that delivery
 */
export async function listDeliveries(
  database: Database,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before?: bigint | undefined },
): Promise<DeliverySummary[]> {
  const { rows } = await database.query<DeliverySummary>(
    `select ${SUMMARY}
     from (
       select newest.id
       from (select id from service.webhooks where ${IS_CHOSEN}) webhook
       cross join lateral (
         select id, created_at from service.webhook_deliveries
         where webhook_id = webhook.id and ${MATCHES} and ($10::bigint is null or (created_at, id) < (
           select created_at, id from service.webhook_deliveries where id = $10
         ))
         order by created_at desc, id desc limit $11
       ) newest
       order by newest.created_at desc, newest.id desc limit $11
     ) page
     join ${WITH_LAST_ATTEMPT} on delivery.id = page.id
     order by created_at desc, delivery.id desc`,
    [...parametersOf(filter), before ?? null, limit],
  );
  return rows;
}

/** One attempt at a delivery. */
export interface AttemptRow {
  readonly attempt: number;
  readonly started_at: Date;
  /** Where it went. */
  readonly url: string;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** A delivery of a wallet with its body and every attempt at it. @throws WebhookNotFoundError */
export async function readDelivery(
  database: Database,
  { wallet, deliveryId }: { wallet: string; deliveryId: bigint },
): Promise<{ delivery: DeliverySummary; body: string; attempts: AttemptRow[] }> {
  const { rows } = await database.query<DeliverySummary & { body: string }>(
    `select ${SUMMARY}, body from ${WITH_LAST_ATTEMPT}
     where delivery.id = $2
       and webhook_id in (select id from service.webhooks where wallet = $1)`,
    [wallet, deliveryId],
  );
  const [delivery] = rows;
  if (!delivery) throw new WebhookNotFoundError(`There is no delivery ${deliveryId}.`);
  const { rows: attempts } = await database.query<AttemptRow>(
    `select attempt, started_at, url, duration_ms, status_code, error, response
     from service.webhook_attempts where delivery_id = $1 order by attempt`,
    [deliveryId],
  );
  return { delivery, body: delivery.body, attempts };
}
