import type { Database } from '../common/postgres.ts';

/** In one statement, so that none takes long: a receiver that was away for days has many to come. */
const SET_ASIDE_AT_ONCE = 1_000;

/** The last of a batch. The time is text: the database tells it more exactly than a Date holds. */
export interface Place {
  readonly due_at: string;
  readonly id: bigint;
}

/**
 * What was to be sent to a webhook is kept for its owner instead. To be called in a database
 * transaction that has locked the webhook, or has changed it.
 */
export async function setAside(database: Database, webhookId: string): Promise<void> {
  let place: Place | undefined = { due_at: '-infinity', id: 0n };
  while (place) place = await setSomeAside(database, webhookId, place);
}

/**
 * Goes on behind the last one: the index still leads to those before it until the transaction ends.
 *
 * @returns the last one that was set aside; undefined when there was none
 */
async function setSomeAside(
  database: Database,
  webhookId: string,
  after: Place,
): Promise<Place | undefined> {
  const { rows } = await database.query<Place>(
    `with pending as materialized (
       select id, due_at from service.webhook_deliveries
       where webhook_id = $1 and status = 'pending' and (due_at, id) > ($2::timestamptz, $3::bigint)
       order by due_at, id limit $4
     ), aside as (
       update service.webhook_deliveries delivery set status = 'undelivered', due_at = null, is_requested = false
       from pending where delivery.id = pending.id
     )
     select due_at::text, id from pending order by pending.due_at desc, id desc limit 1`,
    [webhookId, after.due_at, after.id, SET_ASIDE_AT_ONCE],
  );
  return rows[0];
}

/** The same with one event: others may be there at the owner's wish. */
export async function setOneAside(database: Database, deliveryId: bigint): Promise<void> {
  await database.query(
    `update service.webhook_deliveries set status = 'undelivered', due_at = null, is_requested = false
     where id = $1 and status = 'pending'`,
    [deliveryId],
  );
}
