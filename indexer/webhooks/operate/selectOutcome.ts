import type { Database } from '../../../common/postgres.ts';

/** How a delivery's last attempt went. */
export interface LastOutcome {
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly duration_ms: number | null;
}

/** @returns undefined while the delivery is still to be made, or tried again */
export async function selectOutcome(
  database: Database,
  deliveryId: bigint,
): Promise<LastOutcome | undefined> {
  const { rows } = await database.query<LastOutcome>(
    `select status_code, error, response, duration_ms from service.webhook_deliveries delivery
     join service.webhook_attempts last
       on last.delivery_id = delivery.id and last.attempt = delivery.attempts
     where delivery.id = $1 and status <> 'pending'`,
    [deliveryId],
  );
  return rows[0];
}
