import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../common/config.ts';
import type { Database } from '../../common/postgres.ts';
import { type Sealing, SealingError } from '../../common/sealing.ts';

const SECRET_BYTES = 32;

/**
 * The secret that names requests: the first API of a database makes it. It stays the same while the
 * keys that seal it change, so that a repeat is recognized by every process.
 *
 * @returns 32 bytes
 * @throws ConfigError when none of the keys opens it: each repeat would be charged again
 */
export async function openRequestSecret(database: Database, sealing: Sealing): Promise<Buffer> {
  await database.query(
    'insert into service.request_secret (secret) values ($1) on conflict do nothing',
    [sealing.seal(randomBytes(SECRET_BYTES).toString('base64'))],
  );
  const { rows } = await database.query<{ secret: Buffer }>(
    'select secret from service.request_secret',
  );
  try {
    return Buffer.from(sealing.open(rows[0]?.secret ?? Buffer.of()), 'base64');
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    throw new ConfigError(
      'SVC_SECRETS_KEY, and SVC_SECRETS_KEY_PREVIOUS where it is set, open nothing that the database ' +
        'of DATABASE_URL has sealed: set the key that it was used with',
    );
  }
}
