import { createHash } from 'node:crypto';
import { isoTime } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import { renderEnvelope } from '../../../webhookOperations/envelope.ts';
import type { ListenerEvent } from '../../../webhookOperations/listeners.ts';
import { API_VERSION, WEBHOOK_KINDS, type EventKind } from '../../../webhooks/events.ts';
import type { EventPlace } from '../../fold/event.ts';
import type { Occurrence } from './occurrence.ts';

/**
 * An event's id follows from where it stands on the ledger, so that it is the same however often
 * the event is read: after a restart, a rebuild, or a fork that brought the transaction back.
 */
export function eventIdOf(place: EventPlace, kind: EventKind): string {
  const { signature, instructionIndex, innerIndex } = place;
  const name = [signature, instructionIndex, innerIndex, kind].join(':');
  return `evt_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** A webhook that gets some of what occurred, or a listener, which gets everything. */
interface Subscriber {
  readonly id: string;
  readonly wallet: string;
  readonly events: readonly string[];
  readonly api_version: string;
  /** An event for a webhook that is not active is kept for its owner, and not sent. */
  readonly status: 'active' | 'failed' | 'disabled' | 'listener';
}

/**
 * The webhooks and listeners that one of the occurrences is for. They stay until the transaction
 * ends. One that is being deleted is left out, since the mirror would wait with it for everybody:
 * nothing but a deletion locks a row of theirs against this.
 */
export async function selectSubscribers(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const owned = occurrences.filter(({ wallet }) => wallet !== null);
  const open = occurrences.filter(({ wallet }) => wallet === null);
  const found = [
    ...(await selectOwned(database, owned)),
    ...(open.length > 0 ? await selectAll(database, open) : []),
  ];
  return [...new Map(found.map((subscriber) => [subscriber.id, subscriber])).values()];
}

export function isFor({ kind, wallet }: Occurrence, subscriber: Subscriber): boolean {
  return subscriber.events.includes(kind) && (wallet === null || wallet === subscriber.wallet);
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
const parametersOf = (occurrences: readonly Occurrence[]) => [
  occurrences.map(({ kind }) => kind),
  WEBHOOK_KINDS,
  API_VERSION,
];

async function selectOwned(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>({
    name: 'select_owned_subscribers',
    text: subscribersWhere('wallet = any($4)'),
    values: [...parametersOf(occurrences), occurrences.map(({ wallet }) => wallet)],
  });
  return rows;
}

/** Looks at all there are, which is well for what seldom happens. */
async function selectAll(
  database: Database,
  occurrences: readonly Occurrence[],
): Promise<Subscriber[]> {
  const { rows } = await database.query<Subscriber>(
    subscribersWhere('true'),
    parametersOf(occurrences),
  );
  return rows;
}

/** An occurrence as one webhook is told of it. */
export function renderDelivery(
  occurrence: Occurrence,
  subscriber: Subscriber,
  awaitsFinality: boolean,
): NewDelivery {
  const { kind, event, data } = occurrence;
  const pending = awaitsFinality ? 'held' : 'pending';
  return {
    webhook_id: subscriber.id,
    event: kind,
    job_id: 'job_id' in data ? data.job_id : null,
    slot: event.slot.toString(),
    created_at: createdAtOf(occurrence),
    ...renderEvent(occurrence, subscriber),
    state: subscriber.status === 'active' ? pending : 'undelivered',
  };
}

/** The same for a listener, with the same body. */
export function renderListenerEvent(occurrence: Occurrence, listener: Subscriber): ListenerEvent {
  return { session_id: listener.id, ...renderEvent(occurrence, listener) };
}

function renderEvent(
  occurrence: Occurrence,
  { api_version: apiVersion }: Subscriber,
): Pick<NewDelivery, 'event_id' | 'signature' | 'body'> {
  const { kind, event, data } = occurrence;
  const id = eventIdOf(event, kind);
  const createdAt = createdAtOf(occurrence);
  return {
    event_id: id,
    signature: event.signature,
    body: renderEnvelope({ id, event: kind, createdAt, apiVersion, data }),
  };
}

const createdAtOf = ({ event }: Occurrence): string => isoTime(BigInt(event.data.unixTime));

/** An event for one webhook. */
export interface NewDelivery {
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
 * Writes deliveries in the given order; one whose webhook has had the event already is left as it is.
 *
 * @returns whether any is due at once
 */
export async function insertDeliveries(
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
