/** For those who receive webhooks: proves that a delivery is genuine, and types what it says. */

export {
  EVENT_KINDS,
  type EventData,
  type EventEnvelope,
  type EventKind,
  type WebhookEvent,
} from './events.ts';
export {
  type DeliveryHeaders,
  type VerificationFailure,
  verifyWebhook,
  WebhookVerificationError,
} from './verify.ts';
