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
