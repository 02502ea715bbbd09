import { readdir } from 'node:fs/promises';
import type { Database } from '../../common/postgres.ts';
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
