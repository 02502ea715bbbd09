import { createHash } from 'node:crypto';
import { isoTime } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import { notifyDue } from '../../../webhookOperations/due.ts';
import { renderEnvelope } from '../../../webhookOperations/envelope.ts';
import { insertListenerEvents, type ListenerEvent } from '../../../webhookOperations/listeners.ts';
import { API_VERSION, type EventKind, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import type { EventPlace, LedgerEvent } from '../../fold/event.ts';
import type { OutgoingEvent } from './outgoingEvent.ts';

/** Stores events for the webhooks that subscribe to them, and for the listeners of their wallets. */
export async function storeDeliveries(
  database: Database,
  outgoing: readonly OutgoingEvent[],
  awaitsFinality: boolean,
): Promise<void> {
  if (outgoing.length === 0) return;
  const subscribers = await selectSubscribers(database, outgoing);
  const pending = awaitsFinality ? 'held' : 'pending';
  const deliveries: NewDelivery[] = [];
  const listenerEvents: ListenerEvent[] = [];
  for (const event of outgoing) {
    const createdAt = isoTime(BigInt(event.event.data.unixTime));
    for (const subscriber of subscribers.filter((one) => isFor(event, one))) {
      const rendered = render(event, createdAt, subscriber);
      if (subscriber.status === 'listener') {
        listenerEvents.push({ session_id: subscriber.id, ...rendered });
      } else {
        deliveries.push({
          ...rendered,
          webhook_id: subscriber.id,
          event: event.kind,
          job_id: 'job_id' in event.data ? event.data.job_id : null,
          slot: event.event.slot.toString(),
          created_at: createdAt,
          state: subscriber.status === 'active' ? pending : 'undelivered',
        });
      }
    }
  }
  if (listenerEvents.length > 0) {
    await insertListenerEvents(database, listenerEvents, awaitsFinality);
  }
  if (deliveries.length === 0) return;
  if (await insertDeliveries(database, deliveries)) await notifyDue(database);
}

/**
 * Whether the wallet of any of these events has a webhook or listener. It is asked together with all
 * else of an announcement, and mostly says that there is nothing to store.
 */
export async function haveSubscribers(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<boolean> {
  // Of a repaid claim the wallet is known by an earlier event alone.
  if (events.some(({ name }) => name === 'ClaimPaid')) return true;
  const { rows } = await database.query<{ any: boolean }>({
    name: 'have_subscribers',
    text: `
      with concerned as (
        select unnest($1::text[]) as wallet union select wallet from jobs where address = any($2)
      )
      select exists (select from service.webhooks where wallet in (select wallet from concerned))
        or exists (select from service.webhook_listeners
          where wallet in (select wallet from concerned)) as any`,
    values: [
      events.flatMap(({ data }) => ('wallet' in data ? data.wallet : [])),
      events.flatMap(({ data }) => ('job' in data ? data.job : [])),
    ],
  });
  return rows[0]?.any !== false;
}

/** A webhook, which gets some kinds of events, or a listener, which gets all. */
interface Subscriber {
  readonly id: string;
  readonly wallet: string;
  readonly events: readonly string[];
  readonly api_version: string;
  /** An event for a webhook that is not active is kept for its owner, and not sent. */
  readonly status: 'active' | 'failed' | 'disabled' | 'listener';
}

/**
 * The webhooks and listeners that one of the events is for. They stay until the transaction ends.
 * One that is being deleted is left out, since the mirror would have to wait for it. Nothing but a
 * deletion locks a row of theirs against this.
 */
async function selectSubscribers(
  database: Database,
  outgoing: readonly OutgoingEvent[],
): Promise<Subscriber[]> {
  const owned = outgoing.filter(({ wallet }) => wallet !== null);
  const open = outgoing.filter(({ wallet }) => wallet === null);
  const found = [
    ...(await selectOwned(database, owned)),
    ...(open.length > 0 ? await selectAll(database, open) : []),
  ];
  return [...new Map(found.map((subscriber) => [subscriber.id, subscriber])).values()];
}

/** @param isOfWallet a condition on the wallet, on the fourth parameter if on any */
const subscribersWhere = (isOfWallet: string) => `
  with webhook as (
    select id, wallet, events, api_version, status from service.webhooks
    where ${isOfWallet} and events && $1
    order by created_at, id for key share skip locked
  ), listener as (
    select session_id, wallet from service.webhook_listeners
    where ${isOfWallet} for key share skip locked
  )
  select * from webhook
  union all
  select session_id, wallet, $2::text[], $3::text, 'listener' from listener`;

/** The first parameters of these statements. */
const parametersOf = (outgoing: readonly OutgoingEvent[]) => [
  outgoing.map(({ kind }) => kind),
  WEBHOOK_KINDS,
  API_VERSION,
];

async function selectOwned(
  database: Database,
  outgoing: readonly OutgoingEvent[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>({
    name: 'select_owned_subscribers',
    text: subscribersWhere('wallet = any($4)'),
    values: [...parametersOf(outgoing), outgoing.map(({ wallet }) => wallet)],
  });
  return rows;
}

/** Reads every webhook: events for all wallets are rare. */
async function selectAll(
  database: Database,
  outgoing: readonly OutgoingEvent[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>(
    subscribersWhere('true'),
    parametersOf(outgoing),
  );
  return rows;
}

function isFor({ kind, wallet }: OutgoingEvent, subscriber: Subscriber): boolean {
  return subscriber.events.includes(kind) && (wallet === null || wallet === subscriber.wallet);
}

function render(
  { kind, event, data }: OutgoingEvent,
  createdAt: string,
  { api_version: apiVersion }: Subscriber,
): Pick<NewDelivery, 'event_id' | 'signature' | 'body'> {
  const id = eventIdOf(event, kind);
  const body = renderEnvelope({ id, event: kind, createdAt, apiVersion, data });
  return { event_id: id, signature: event.signature, body };
}

/**
 * An event's id follows from its place on the ledger. So it is the same however often the event is
 * read: after a restart, a rebuild, or a fork that brought the transaction back.
 */
export function eventIdOf(place: EventPlace, kind: EventKind): string {
  const { signature, instructionIndex, innerIndex } = place;
  const name = [signature, instructionIndex, innerIndex, kind].join(':');
  return `evt_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** An event for one webhook. */
interface NewDelivery {
  webhook_id: string;
  event_id: string;
  event: string;
  /** Of an event of a job: those of one job go to a webhook in their order. */
  job_id: string | null;
  signature: string;
  slot: string;
  /** ISO 8601. */
  created_at: string;
  body: string;
  /** `held`: pending, but not before its transaction is final. */
  state: 'pending' | 'held' | 'undelivered';
}

/**
 * Writes deliveries in the given order. One whose webhook has had the event already stays as it is.
 *
 * @returns whether any is due at once
 */
async function insertDeliveries(
  database: Database,
  deliveries: readonly NewDelivery[],
): Promise<boolean> {
  const { rows } = await database.query<{ is_due: boolean }>({
    name: 'insert_deliveries',
    text: `
      insert into service.webhook_deliveries (webhook_id, event_id, event, job_id, signature,
        slot, created_at, body, status, due_at)
      select webhook_id, event_id, event, job_id, signature, slot, created_at, body,
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
        job_id text, signature text, slot bigint, created_at timestamptz, body text, state text))
        with ordinality as delivery
      order by ordinality
      on conflict (webhook_id, event_id) do nothing
      returning coalesce(due_at <= now(), false) as is_due`,
    values: [JSON.stringify(deliveries)],
  });
  return rows.some(({ is_due }) => is_due);
}
