import type { EventEnvelope, EventKind } from './generated/events.ts';

/** The form of event envelopes: the date of the release that last changed it. */
export const API_VERSION = '2026-11-21';

export {
  type EventData,
  type EventEnvelope,
  type EventKind,
  WEBHOOK_KINDS,
} from './generated/events.ts';

/** Sent at an owner's wish, to try a webhook. No webhook subscribes to it. */
export const TEST_KIND = 'webhook.test';

/** A delivered event. The value of `event` is its kind, and decides the type of `data`. */
export type WebhookEvent = { [Kind in EventKind]: EventEnvelope<Kind> }[EventKind];
