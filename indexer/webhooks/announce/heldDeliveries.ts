import type { Database } from '../../../common/postgres.ts';
import { EVENT_KINDS } from '../../../webhooks/events.ts';
import type { EventPlace } from '../../decode.ts';
import type { DueDelivery } from '../deliver/queue.ts';
import { eventIdOf } from './eventId.ts';

/**
 * Makes due what waited for its transaction to be final.
 *
 * @returns the deliveries, in their order
 */
export async function releaseDeliveries(
  database: Database,
  signatures: readonly string[],
): Promise<DueDelivery[]> {
  const { rows } = await database.query<{ id: bigint; webhook_id: string }>({
    name: 'release_deliveries',
    text: `
      with released as (
        update service.webhook_deliveries set due_at = now()
        where signature = any($1) and status = 'pending' and due_at = 'infinity'
        returning id, webhook_id
      )
      select id, webhook_id from released order by id`,
    values: [signatures],
  });
  return rows.map(({ id, webhook_id }) => ({
    ...{ id, webhookId: webhook_id },
    ...{ attempt: 1, dueAt: null },
  }));
}

/** The transactions that are known to be final while deliveries still wait for that. */
export async function selectFinalHeld(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ signature: string }>(
    `select distinct signature from service.webhook_deliveries
     join transactions using (signature)
     where status = 'pending' and due_at = 'infinity' and commitment = 'finalized'`,
  );
  return rows.map(({ signature }) => signature);
}

/** Forgets what was announced of ledger events and nobody was sent. */
export async function deleteUnsent(
  database: Database,
  events: readonly EventPlace[],
): Promise<void> {
  const eventIds = events.flatMap((event) => EVENT_KINDS.map((kind) => eventIdOf(event, kind)));
  const signatures = events.map(({ signature }) => signature);
  await database.query(
    `delete from service.webhook_deliveries
     where signature = any($1) and event_id = any($2) and attempts = 0`,
    [signatures, eventIds],
  );
}
