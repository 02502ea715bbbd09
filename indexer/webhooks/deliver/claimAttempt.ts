import type { Database } from '../../../common/postgres.ts';
import type { AttemptJob } from './queue.ts';

/** All that an attempt needs. */
export interface ClaimedAttempt extends AttemptJob {
  readonly webhookId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** Sealed. */
  readonly secret: Uint8Array;
  /** Sealed; null but while a rotation overlaps. */
  readonly previousSecret: Uint8Array | null;
}

/**
 * Counts an attempt before it is made, so that a process that dies in it does not take it back.
 *
 * @returns null when it is not to be made now: the event was delivered, given up or taken back, the
 *   attempt was made before or another is under way, or the webhook is gone, is disabled, or has
 *   failed and its owner has not asked for this
 */
export async function claimAttempt(
  database: Database,
  job: AttemptJob,
): Promise<ClaimedAttempt | null> {
  const { rows } = await database.query<{
    webhook_id: string;
    url: string;
    event_id: string;
    body: string;
    secret: Buffer;
    previous_secret: Buffer | null;
  }>({
    name: 'claim_attempt',
    text: `
      with claimed as (
        update service.webhook_deliveries delivery set attempts = $2
        from service.webhooks webhook
        where delivery.id = $1 and delivery.status = 'pending' and attempts = $2 - 1
          and webhook.id = delivery.webhook_id
          and (webhook.status = 'active' or (webhook.status = 'failed' and $3))
          and not exists (
            select from service.webhook_attempts under_way
            where under_way.delivery_id = delivery.id and duration_ms is null and error is null
          )
        returning delivery.id, webhook_id, url, event_id, body, secret,
          case when previous_secret_until > now() then previous_secret end as previous_secret
      ), begun as (
        insert into service.webhook_attempts (delivery_id, attempt) select id, $2 from claimed
      )
      select * from claimed`,
    values: [job.deliveryId, job.attempt, job.isRequested ?? false],
  });
  const [row] = rows;
  if (!row) return null;
  return {
    ...job,
    webhookId: row.webhook_id,
    url: row.url,
    eventId: row.event_id,
    body: row.body,
    secret: row.secret,
    previousSecret: row.previous_secret,
  };
}
