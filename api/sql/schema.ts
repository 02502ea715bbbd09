import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { ConfigError } from '../../common/config.ts';
import type { Database } from '../../common/postgres.ts';
import { type Sealing, SealingError } from '../../common/sealing.ts';
import { DatabaseTooOldError } from '../../common/transientErrors.ts';

const MIGRATIONS = new URL('../../indexer/migrations/', import.meta.url);

/**
 * The database has every migration of this release; it may have later ones.
 *
 * @throws DatabaseTooOldError naming the first that it lacks
 */
export async function assertMigrated(database: Database): Promise<void> {
  const { rows } = await database.query<{ id: number }>('select id from service.migrations');
  const applied = new Set(rows.map(({ id }) => id));
  const ids = (await readdir(MIGRATIONS)).sort().map((file) => Number.parseInt(file, 10));
  const missing = ids.find((id) => !applied.has(id));
  if (missing === undefined) return;
  throw new DatabaseTooOldError(
    `The database lacks migration ${missing} of this release, which its indexer or svc migrate applies`,
  );
}

/**
 * The user of this connection may read what requests read, and write where they write first. Else the
 * first request would fail.
 *
 * @throws ConfigError naming a table that it may not use
 */
export async function assertRights(database: Database): Promise<void> {
  const { rows } = await database.query<{ name: string; role: string }>(
    `
      select schemaname || '.' || tablename as name, current_user as role
      from pg_tables, format('%I.%I', schemaname, tablename) as table_name
      where schemaname in ('mirror', 'service')
        and (not has_schema_privilege(schemaname, 'usage')
             or not has_table_privilege(table_name, 'select')
             or (tablename = 'idempotent_requests' and not has_table_privilege(table_name, 'insert')))
      order by name limit 1`,
  );
  const [lacking] = rows;
  if (!lacking) return;
  throw new ConfigError(
    `DATABASE_URL: its user ${lacking.role} may not use ${lacking.name}: svc roles makes one that may`,
  );
}

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
