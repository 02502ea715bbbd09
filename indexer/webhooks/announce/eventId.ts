import { createHash } from 'node:crypto';
import type { EventKind } from '../../../webhooks/events.ts';
import type { EventPlace } from '../../decode.ts';

/**
 * An event's id follows from where it stands on the ledger, so that it is the same however often
 * the event is read: after a restart, a rebuild, or a fork that brought the transaction back.
 */
export function eventIdOf(place: EventPlace, kind: EventKind): string {
  const { signature, instructionIndex, innerIndex } = place;
  const name = [signature, instructionIndex, innerIndex, kind].join(':');
  return `evt_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
