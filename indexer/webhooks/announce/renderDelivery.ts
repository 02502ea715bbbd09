import { isoTime } from '../../../common/jsonForms.ts';
import { renderEnvelope } from './envelope.ts';
import { eventIdOf } from './eventId.ts';
import type { NewDelivery } from './insertDeliveries.ts';
import type { Occurrence } from './occurrence.ts';
import type { Subscriber } from './subscribers.ts';

/** An occurrence as one webhook is told of it. */
export function renderDelivery(
  { kind, event, data }: Occurrence,
  subscriber: Subscriber,
  awaitsFinality: boolean,
): NewDelivery {
  const id = eventIdOf(event, kind);
  const createdAt = isoTime(BigInt(event.data.unixTime));
  const apiVersion = subscriber.api_version;
  const pending = awaitsFinality ? 'held' : 'pending';
  return {
    webhook_id: subscriber.id,
    event_id: id,
    event: kind,
    signature: event.signature,
    slot: event.slot.toString(),
    created_at: createdAt,
    body: renderEnvelope({ id, event: kind, createdAt, apiVersion, data }),
    state: subscriber.status === 'active' ? pending : 'undelivered',
  };
}
