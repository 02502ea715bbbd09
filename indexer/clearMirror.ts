import type { Database } from '../common/postgres.ts';
import { MIRROR_SCHEMA } from './mirrorSchema.ts';

/**
 * Empties the mirror, so that the next sweep makes it anew. What the ledger does not know lives in
 * another schema and is left alone. For a ledger that is gone: a mirror whose ledger lives is made
 * anew beside the old one, which goes on serving meanwhile.
 */
export async function clearMirror(database: Database): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [MIRROR_SCHEMA],
  );
  await database.query(`truncate ${rows.map(({ name }) => name).join()}`);
  // How far that ledger's events were announced says nothing of another one's slots.
  await database.query('delete from service.announcements');
}
