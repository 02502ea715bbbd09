import type pg from 'pg';
import { type Database, inTransaction } from '../common/postgres.ts';

/**
 * A listener has the events of its wallet sent to a terminal, without a public address. It belongs
 * to a session and ends with it. The process that announces events stores them for it. The process
 * of the API that holds its connection sends them.
 */
interface ListenerKey {
  readonly sessionId: string;
  /** Its connection: the last one that was opened is served, on whichever process. */
  readonly streamId: string;
}

/** The wallet has as many listeners as it may have. */
export class TooManyListenersError extends Error {
  override name = 'TooManyListenersError';
}

/** Of one wallet, those included that wait for their connection to come back. */
export const LISTENERS_PER_WALLET_MAX = 5;
/** One that was not served for longer no longer counts towards that. */
const SERVED_SECONDS_MAX = 30;

/**
 * Makes the session's listener, or takes it over from an earlier connection.
 *
 * @returns whether it was there already, with the events that came since
 * @throws TooManyListenersError
 */
export async function openListener(
  pool: pg.Pool,
  { sessionId, streamId, wallet }: ListenerKey & { wallet: string },
): Promise<{ isResumed: boolean }> {
  return inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('listeners ' || $1, 0))`, [
      wallet,
    ]);
    const { rowCount: resumed } = await client.query(
      `update service.webhook_listeners set stream_id = $2, served_at = now()
       where session_id = $1`,
      [sessionId, streamId],
    );
    if (resumed === 1) return { isResumed: true };
    const { rowCount: others } = await client.query(
      `select from service.webhook_listeners
       where wallet = $1 and served_at > now() - $2 * interval '1 second'`,
      [wallet, SERVED_SECONDS_MAX],
    );
    if ((others ?? 0) >= LISTENERS_PER_WALLET_MAX) {
      throw new TooManyListenersError(
        `The wallet has ${LISTENERS_PER_WALLET_MAX} listeners already: end one of them.`,
      );
    }
    // Those without a connection make way: each gets every event for ten minutes.
    await client.query(
      `select from service.delete_rows('webhook_listeners', array(
         select ctid from service.webhook_listeners
         where wallet = $1 order by served_at desc offset $2 for update
       ))`,
      [wallet, LISTENERS_PER_WALLET_MAX - 1],
    );
    await client.query(
      'insert into service.webhook_listeners (session_id, stream_id, wallet) values ($1, $2, $3)',
      [sessionId, streamId, wallet],
    );
    return { isResumed: false };
  });
}

/** An event for one listener. */
export interface ListenerEvent {
  readonly session_id: string;
  readonly event_id: string;
  /** The transaction that emitted it; null of a test. */
  readonly signature: string | null;
  readonly body: string;
}

/**
 * Stores events in the given order. One that its listener has already replaces it while it is not
 * sent: its transaction may have landed again, with other balances. To be called in the database
 * transaction that has locked the listeners.
 *
 * @param awaitsFinality whether they are sent only when their transactions are final
 */
export async function insertListenerEvents(
  database: Database,
  events: readonly ListenerEvent[],
  awaitsFinality: boolean,
): Promise<void> {
  await database.query({
    name: 'insert_listener_events',
    text: `
      insert into service.listener_events (session_id, event_id, signature, body, awaits_finality)
      select session_id, event_id, signature, body, $2
      from rows from (jsonb_to_recordset($1) as (session_id text, event_id text, signature text,
        body text)) with ordinality as event
      order by ordinality
      on conflict (session_id, event_id) do update set body = excluded.body
        where listener_events.position is null`,
    values: [JSON.stringify(events), awaitsFinality],
  });
}

/** Of one listener, in one statement: an event has some hundred bytes. */
const EVENTS_AT_ONCE = 500;

/**
 * What may be sent: an event whose transaction is on the ledger, and final where that is awaited. One
 * that vanished with a fork is not sent, unless it comes back.
 */
const IS_SENDABLE = `(
  signature is null or exists (
    select from mirror.transactions
    where transactions.signature = event.signature
      and (not awaits_finality or commitment = 'finalized')
  )
)`;

/**
 * Gives the events that may be sent their places. An event may become sendable after one that was
 * stored later, so the places are not the order of storing.
 *
 * @returns the streams whose listeners are still theirs
 */
export async function placeListenerEvents(
  database: Database,
  listeners: readonly ListenerKey[],
): Promise<Set<string>> {
  const { rows } = await database.query<{ stream_id: string }>({
    name: 'place_listener_events',
    text: `
      with served as (
        select session_id, listener.position
        from unnest($1::text[], $2::text[]) as given (session_id, stream_id)
        join service.webhook_listeners listener using (session_id, stream_id)
        order by session_id for no key update of listener
      ), next as (
        select event.id, session_id,
          served.position + row_number() over (partition by session_id order by event.id)
            as position
        from served cross join lateral (
          select id from service.listener_events event
          where event.session_id = served.session_id and event.position is null
            and ${IS_SENDABLE}
          order by id limit ${EVENTS_AT_ONCE}
        ) event
      ), placed as (
        update service.listener_events event set position = next.position
        from next where event.id = next.id
      )
      update service.webhook_listeners listener
      set served_at = now(),
        position = coalesce(
          (select max(position) from next where next.session_id = served.session_id),
          served.position
        )
      from served where listener.session_id = served.session_id
      returning stream_id`,
    values: [
      listeners.map(({ sessionId }) => sessionId),
      listeners.map(({ streamId }) => streamId),
    ],
  });
  return new Set(rows.map(({ stream_id }) => stream_id));
}

/** An event as it is sent. */
interface PlacedEvent {
  readonly session_id: string;
  readonly position: bigint;
  readonly body: string;
}

/** The placed events that follow, in their order. @param after the place of the last that was sent */
export async function selectListenerEvents(
  database: Database,
  listeners: readonly { readonly sessionId: string; readonly after: bigint }[],
): Promise<PlacedEvent[]> {
  const { rows } = await database.query<PlacedEvent>({
    name: 'select_listener_events',
    text: `
      select given.session_id, event.position, body
      from unnest($1::text[], $2::bigint[]) as given (session_id, after)
      cross join lateral (
        select position, body from service.listener_events
        where session_id = given.session_id and position > given.after
        order by position limit ${EVENTS_AT_ONCE}
      ) event
      order by given.session_id, event.position`,
    values: [listeners.map(({ sessionId }) => sessionId), listeners.map(({ after }) => after)],
  });
  return rows;
}

/** What the receiver behind a listener made of an event. @param answer.statusCode 0 without an answer */
export async function recordAnswer(
  database: Database,
  answer: { sessionId: string; eventId: string; statusCode: number },
): Promise<void> {
  await database.query(
    'update service.listener_events set status_code = $3 where session_id = $1 and event_id = $2',
    [answer.sessionId, answer.eventId, answer.statusCode],
  );
}

/** The answers to a wallet's event, one for each listener that has it; null before one is known. */
export async function selectAnswers(
  database: Database,
  event: { wallet: string; eventId: string },
): Promise<(number | null)[]> {
  const { rows } = await database.query<{ status_code: number | null }>(
    `select status_code from service.listener_events
     join service.webhook_listeners using (session_id)
     where wallet = $1 and event_id = $2`,
    [event.wallet, event.eventId],
  );
  return rows.map(({ status_code }) => status_code);
}
