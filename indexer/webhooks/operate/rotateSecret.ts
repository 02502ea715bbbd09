import type pg from 'pg';
import { inTransaction } from '../../../common/postgres.ts';
import type { Sealing } from '../../../common/sealing.ts';
import { generateSecret } from '../../../webhooks/signature.ts';
import { notFound } from './errors.ts';

/** Time for the receiver to learn the new secret. */
const OVERLAP_HOURS = 24;

/**
 * Gives a webhook a new secret. For a day, deliveries are signed with the one before it, too.
 *
 * @returns the new secret, which cannot be had again
 * @throws WebhookNotFoundError
 * @throws SealingError when the present secret was sealed under another key: whoever delivers could
 *   not read the new one
 */
export async function rotateSecret(
  pool: pg.Pool,
  sealing: Sealing,
  webhookId: string,
): Promise<string> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ secret: Buffer }>(
      'select secret from service.webhooks where id = $1 for no key update',
      [webhookId],
    );
    if (!rows[0]) throw notFound(webhookId);
    sealing.open(rows[0].secret);
    const secret = generateSecret();
    await client.query(
      `update service.webhooks
       set secret = $2, previous_secret = secret,
           previous_secret_until = now() + $3 * interval '1 hour'
       where id = $1`,
      [webhookId, sealing.seal(secret), OVERLAP_HOURS],
    );
    return secret;
  });
}
