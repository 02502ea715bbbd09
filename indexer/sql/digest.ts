import { TABLE_NAMES } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import { MIRROR_SCHEMA } from './schema.ts';

/** The tables that are folded from events, and the hours that follow the jobs. */
const FOLDED_TABLES = [...TABLE_NAMES, 'worker_models', 'usage_hours'];

/**
 * A hash over each folded table's rows, in any order, so that two mirrors of one ledger can
 * be compared. Rows are hashed in 256 parts, by how their own hashes begin. All hashes of 33 million
 * rows would be a gigabyte, more than PostgreSQL allows in a value.
 *
 * @returns sha256 in hex by table
 */
export async function digestTables(
  database: Database,
  schema = MIRROR_SCHEMA,
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const table of FOLDED_TABLES) {
    const { rows } = await database.query<{ digest: string }>(
      `with hashes as (
         select sha256(convert_to(folded::text, 'UTF8')) as hash from ${schema}.${table} as folded
       ), parts as (
         select get_byte(hash, 0) as beginning, sha256(string_agg(hash, '' order by hash)) as hash
         from hashes group by beginning
       )
       select encode(sha256(coalesce(string_agg(hash, '' order by beginning), '')), 'hex') as digest
       from parts`,
    );
    digests[table] = rows[0]?.digest ?? '';
  }
  return digests;
}

/**
 * Empties the mirror, so that the next sweep fills it again. All else of the schema `service` stays.
 * For a ledger that is gone: while it lives, `rebuildMirror` replaces the mirror without a gap.
 */
export async function clearMirror(database: Database): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [MIRROR_SCHEMA],
  );
  await database.query(`truncate ${rows.map(({ name }) => name).join()}`);
  // Positions in that ledger's slots mean nothing in another one's.
  await database.query('delete from service.announcements');
  await database.query('delete from service.ledger');
}
