/**
 * The body of a delivery, byte for byte: it is stored, signed and sent as this text.
 *
 * @param createdAt ISO 8601 UTC
 * @param isTest of an event that did not happen
 */
export function renderEnvelope(envelope: {
  id: string;
  event: string;
  createdAt: string;
  apiVersion: string;
  data: object;
  isTest?: boolean;
}): string {
  const { id, event, createdAt, apiVersion, data, isTest = false } = envelope;
  const kind = { event, ...(isTest && { test: true }) };
  return JSON.stringify({ id, ...kind, created_at: createdAt, api_version: apiVersion, data });
}
