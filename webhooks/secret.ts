import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** A new signing secret, in the form that Standard Webhooks verifiers expect. */
export function generateSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
