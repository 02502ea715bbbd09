/** For those who receive webhooks: proves that a delivery is genuine, and types what it says. */

export type { EventData, EventEnvelope, WebhookEvent } from './events.ts';
export { EVENT_KINDS, type EventKind } from './events.ts';
export {
  type DeliveryHeaders,
  type VerificationFailure,
  verifyWebhook,
  WebhookVerificationError,
} from './verify.ts';
