import type { EventData, WEBHOOK_KINDS } from './generated/events.ts';

/** The form of event envelopes: the date of the release that last changed it. */
export const API_VERSION = '2026-11-21';

export { type EventData, KIND_LABELS, WEBHOOK_KINDS } from './generated/events.ts';

export type EventKind = (typeof WEBHOOK_KINDS)[number];

/** Sent at an owner's wish, to try a webhook. No webhook subscribes to it. */
export const TEST_KIND = 'webhook.test';

/** A delivered event of one kind. */
export interface EventEnvelope<Kind extends EventKind> {
  /** The same at each attempt to deliver it: drop what you have seen. */
  id: string;
  event: Kind;
  /** The ledger's time of the event. */
  created_at: string;
  /** The form of `data`, pinned when the webhook was created. */
  api_version: string;
  data: EventData[Kind];
}

/** A delivered event. The value of `event` is its kind, and decides the type of `data`. */
export type WebhookEvent = { [Kind in EventKind]: EventEnvelope<Kind> }[EventKind];
