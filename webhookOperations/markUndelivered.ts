import type { Database } from '../common/postgres.ts';

/**
 * Keeps what was to be sent to a webhook for its owner instead. To be called in a database
 * transaction that has locked the webhook, or has changed it.
 */
export async function markAllUndelivered(database: Database, webhookId: string): Promise<void> {
  let place: Place | undefined = { due_at: '-infinity', id: 0n };
  while (place) place = await markSome(database, webhookId, place);
}

/** In one statement, so that none takes long: a receiver that was away for days has many to come. */
const BATCH = 1_000;

/** The last of a batch. The time is text, since the database's is more exact than a Date. */
interface Place {
  readonly due_at: string;
  readonly id: bigint;
}

/**
 * Continues after the last one: the index still leads to those before it until the transaction ends.
 *
 * @returns the last one that was marked; undefined when there was none
 */
async function markSome(
  database: Database,
  webhookId: string,
  after: Place,
): Promise<Place | undefined> {
  const { rows } = await database.query<Place>(
    `with pending as materialized (
       select id, due_at from service.webhook_deliveries
       where webhook_id = $1 and status = 'pending' and (due_at, id) > ($2::timestamptz, $3::bigint)
       order by due_at, id limit $4
     ), marked as (
       update service.webhook_deliveries delivery
       set status = 'undelivered', due_at = null, is_requested = false
       from pending where delivery.id = pending.id
     )
     select due_at::text, id from pending order by pending.due_at desc, id desc limit 1`,
    [webhookId, after.due_at, after.id, BATCH],
  );
  return rows[0];
}

/** The same with some deliveries, beside others that the owner asked for. */
export async function markUndelivered(database: Database, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await database.query(
    `update service.webhook_deliveries
     set status = 'undelivered', due_at = null, is_requested = false
     where id = any($1) and status = 'pending'`,
    [ids],
  );
}
