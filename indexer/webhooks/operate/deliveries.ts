import type { Database } from '../../../common/postgres.ts';

/** Undelivered: its webhook was not active, so nobody sends it unless it is replayed. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'undelivered'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Some of a webhook's deliveries. */
export interface DeliveryFilter {
  readonly webhookId: string;
  readonly statuses: readonly DeliveryStatus[];
  /** By the ledger's time of the event: from the first, up to but without the second. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A delivery, with how its last attempt went. */
export interface DeliverySummary {
  readonly id: bigint;
  readonly event_id: string;
  readonly event: string;
  readonly created_at: Date;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** A webhook's deliveries, newest first. @param before continues after that delivery */
export async function listDeliveries(
  database: Database,
  filter: DeliveryFilter,
  { limit, before }: { limit: number; before?: bigint | undefined },
): Promise<DeliverySummary[]> {
  const { rows } = await database.query<DeliverySummary>(
    `select id, event_id, event, created_at, status, attempts, status_code, error, response
     from service.webhook_deliveries delivery
     left join service.webhook_attempts last
       on last.delivery_id = delivery.id and last.attempt = delivery.attempts
     where ${MATCHES} and ($5::bigint is null or id < $5)
     order by id desc limit $6`,
    [...parametersOf(filter), before ?? null, limit],
  );
  return rows;
}

/** The condition on a delivery, on the first four parameters. */
export const MATCHES = `webhook_id = $1 and status = any($2)
  and created_at >= coalesce($3::timestamptz, '-infinity')
  and created_at < coalesce($4::timestamptz, 'infinity')`;

export function parametersOf({ webhookId, statuses, since, until }: DeliveryFilter): unknown[] {
  return [webhookId, statuses, since ?? null, until ?? null];
}
