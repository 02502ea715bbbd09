/** For those who receive webhooks: proves that a delivery is genuine, and types what it says. */

export {
  type EventData,
  type EventEnvelope,
  type EventKind,
  WEBHOOK_KINDS as EVENT_KINDS,
  type WebhookEvent,
} from './events.ts';
export {
  type DeliveryHeaders,
  type VerificationFailure,
  verifyWebhook,
  WebhookVerificationError,
} from './verify.ts';
