import type { Database } from '../../../common/postgres.ts';

/** One attempt at a delivery. */
export interface AttemptId {
  readonly deliveryId: bigint;
  /** From 1. */
  readonly attempt: number;
}

/** One that no other process is going to make. */
export interface ClaimedAttempt extends AttemptId {
  /** Whose webhook it is. */
  readonly wallet: string;
}

/** What may be claimed at once. */
export interface ClaimLimits {
  readonly max: number;
  /** At the same time to one webhook, with those that any process has claimed before. */
  readonly webhookMax: number;
  /** Whose webhooks are passed over. */
  readonly exceptWallets: readonly string[];
}

/** Far longer than an exchange: the process of an older claim has died. */
const CLAIM_SECONDS_MAX = 60;

/**
 * Claims attempts that are due, of each webhook the longest due first, and as evenly as there is
 * room. An event of a job waits until the first attempt of the one before it has ended. An attempt
 * that was started by a process that died is claimed again, to be concluded.
 */
export async function claimDue(database: Database, limits: ClaimLimits): Promise<ClaimedAttempt[]> {
  const { rows } = await database.query<ClaimedAttempt>({
    name: 'claim_due_attempts',
    text: CLAIM_DUE,
    values: [limits.max, limits.webhookMax, limits.exceptWallets, CLAIM_SECONDS_MAX],
  });
  return rows;
}

/**
 * Finds the webhooks that have something due one by one in the index. So a backlog of one webhook
 * takes no longer to step over than a single delivery.
 */
const CLAIM_DUE = `
  with recursive pending (webhook_id) as (
    (
      select webhook_id from service.webhook_deliveries
      where status = 'pending' and due_at < 'infinity'
      order by webhook_id, due_at, id limit 1
    )
    union all
    select (
      select webhook_id from service.webhook_deliveries later
      where status = 'pending' and due_at < 'infinity' and later.webhook_id > pending.webhook_id
      order by webhook_id, due_at, id limit 1
    )
    from pending where webhook_id is not null
  ), open as (
    select webhook.id, wallet, $2::integer - taken.count as room
    from pending join service.webhooks webhook on webhook.id = pending.webhook_id
    cross join lateral (
      select count(*)::integer as count from service.webhook_deliveries
      where webhook_id = webhook.id and taken_until > now()
    ) taken
    where wallet <> all($3::text[]) and taken.count < $2
  ), due as (
    select delivery.id, wallet, due_at,
      row_number() over (partition by open.id order by due_at, delivery.id) as place
    from open cross join lateral (
      select id, due_at from service.webhook_deliveries waiting
      where webhook_id = open.id and status = 'pending' and due_at < 'infinity'
        and due_at <= now() and (taken_until is null or taken_until <= now())
        and not exists (
          select from service.webhook_deliveries earlier
          where earlier.webhook_id = waiting.webhook_id and earlier.job_id = waiting.job_id
            and earlier.id < waiting.id and earlier.status = 'pending'
            and (attempts = 0 or attempts = 1 and taken_until is not null)
        )
      order by due_at, id limit open.room
    ) delivery
  ), chosen as (
    select id, wallet from due order by place, due_at, id limit $1
  ), locked as (
    select delivery.id, wallet
    from service.webhook_deliveries delivery join chosen using (id)
    where status = 'pending' and due_at <= now()
      and (taken_until is null or taken_until <= now())
    for update of delivery skip locked
  ), taken as (
    update service.webhook_deliveries delivery
    set taken_until = now() + $4 * interval '1 second'
    from locked where delivery.id = locked.id
    returning delivery.id, wallet, attempts
  )
  select taken.id as "deliveryId", wallet, coalesce(begun.attempt, attempts + 1) as attempt
  from taken left join service.webhook_attempts begun
    on begun.delivery_id = taken.id and begun.attempt = attempts
      and duration_ms is null and error is null
  order by taken.id`;

/** Lets the delivery be claimed again. */
export async function release(database: Database, deliveryId: bigint): Promise<void> {
  await database.query({
    name: 'release_attempt',
    text: 'update service.webhook_deliveries set taken_until = null where id = $1',
    values: [deliveryId],
  });
}
