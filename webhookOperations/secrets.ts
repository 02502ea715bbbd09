import type pg from 'pg';
import { withCheckedDatabase } from '../common/net/connectionChecks.ts';
import { inTransaction } from '../common/postgres.ts';
import { createSealing, type Sealing, SealingError } from '../common/sealing.ts';
import type { StartCheck } from '../common/startChecks.ts';
import { generateSecret } from '../webhooks/signature.ts';
import { IS_KEY, notFound, type WebhookKey } from './webhooks.ts';

/** Time for the receiver to learn the new secret. */
const OVERLAP_HOURS = 24;

/**
 * Gives a webhook a new secret. For a day, deliveries are signed with the one before it, too.
 *
 * @returns the new secret, which cannot be had again
 * @throws WebhookNotFoundError
 * @throws SealingError when the present secret was sealed under another key: the indexer could
 *   not read the new one
 */
export async function rotateSecret(
  pool: pg.Pool,
  sealing: Sealing,
  key: WebhookKey,
): Promise<string> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ secret: Buffer }>(
      `select secret from service.webhooks where ${IS_KEY} for no key update`,
      [key.id, key.wallet],
    );
    if (!rows[0]) throw notFound(key);
    sealing.open(rows[0].secret);
    const secret = generateSecret();
    await client.query(
      `update service.webhooks
       set secret = $3, previous_secret = secret,
           previous_secret_until = now() + $4 * interval '1 hour'
       where ${IS_KEY}`,
      [key.id, key.wallet, sealing.seal(secret), OVERLAP_HOURS],
    );
    return secret;
  });
}

/** Whose secret it is that is no webhook's. */
export const REQUESTS = 'the names of requests';

/** What `--check` tries of the keys: whether they open every secret that is stored. */
export function secretsCheck(config: {
  DATABASE_URL: string;
  SVC_SECRETS_KEY: Buffer;
  SVC_SECRETS_KEY_PREVIOUS?: Buffer | undefined;
}): StartCheck {
  const sealing = createSealing(config.SVC_SECRETS_KEY, config.SVC_SECRETS_KEY_PREVIOUS);
  return {
    what: 'secrets',
    run: () =>
      withCheckedDatabase(config.DATABASE_URL, async (database) => {
        const { rowCount: tables } = await database.query(
          `select where to_regclass('service.request_secret') is not null`,
        );
        if (tables === 0) return 'none yet';
        const { rows } = await database.query<{ owner: string; secret: Buffer }>(
          `select $1 as owner, secret from service.request_secret
           union all
           select 'webhook ' || id, secret from service.webhooks
           union all
           select 'webhook ' || id, previous_secret from service.webhooks
           where previous_secret_until > now()`,
          [REQUESTS],
        );
        for (const { owner, secret } of rows) assertOpens(sealing, owner, secret);
        return `SVC_SECRETS_KEY opens ${rows.length}, all that are stored`;
      }),
  };
}

function assertOpens(sealing: Sealing, owner: string, secret: Buffer): void {
  try {
    sealing.open(secret);
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new Error(`SVC_SECRETS_KEY does not open the stored secret of ${owner}`);
  }
}
