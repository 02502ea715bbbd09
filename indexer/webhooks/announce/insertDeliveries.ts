import type { Database } from '../../../common/postgres.ts';
import type { DueDelivery } from '../deliver/queue.ts';

/** An event for one webhook. */
export interface NewDelivery {
  webhook_id: string;
  event_id: string;
  event: string;
  signature: string;
  slot: string;
  /** ISO 8601. */
  created_at: string;
  body: string;
  /** `held`: pending, but not before its transaction is final. */
  state: 'pending' | 'held' | 'undelivered';
}

/**
 * Writes deliveries in the given order; one whose webhook has had the event already is left as it is.
 *
 * @returns those that are due at once
 */
export async function insertDeliveries(
  database: Database,
  deliveries: readonly NewDelivery[],
): Promise<DueDelivery[]> {
  const { rows } = await database.query<{ id: bigint; webhook_id: string; is_due: boolean }>({
    name: 'insert_deliveries',
    text: `
      insert into service.webhook_deliveries (webhook_id, event_id, event, signature, slot,
        created_at, body, status, due_at)
      select webhook_id, event_id, event, signature, slot, created_at, body,
        case state when 'held' then 'pending' else state end,
        case
          when state = 'pending' then now()
          when state = 'held' and exists (
            select from transactions
            where transactions.signature = delivery.signature and commitment = 'finalized'
          ) then now()
          when state = 'held' then 'infinity'
        end
      from rows from (jsonb_to_recordset($1) as (webhook_id text, event_id text, event text,
        signature text, slot bigint, created_at timestamptz, body text, state text))
        with ordinality as delivery
      order by ordinality
      on conflict (webhook_id, event_id) do nothing
      returning id, webhook_id, due_at <= now() as is_due`,
    values: [JSON.stringify(deliveries)],
  });
  return rows
    .filter(({ is_due }) => is_due)
    .map(({ id, webhook_id }) => ({ id, webhookId: webhook_id, attempt: 1, dueAt: null }));
}
