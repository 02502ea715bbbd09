/** Sent at its owner's wish, to see that a webhook works. Nobody subscribes to it. */
export const TEST_EVENT = 'webhook.test';

/**
 * The body of a delivery, byte for byte: it is stored, signed and sent as this text.
 *
 * @param createdAt ISO 8601 UTC
 */
export function renderEnvelope(envelope: {
  id: string;
  event: string;
  createdAt: string;
  apiVersion: string;
  data: object;
}): string {
  const { id, event, createdAt, apiVersion, data } = envelope;
  return JSON.stringify({ id, event, created_at: createdAt, api_version: apiVersion, data });
}
