import type { Database } from '../runtime/postgres.ts';
import { MIRROR_SCHEMA } from './mirrorSchema.ts';

/** The tables that are folded from events. */
const FOLDED_TABLES = [
  'config',
  'treasury',
  'gateways',
  'credit_accounts',
  'models',
  'workers',
  'worker_models',
  'jobs',
] as const;

/**
 * A hash over each folded table's rows in an order of their own, so that two mirrors of one ledger
 * can be compared, however each of them came about.
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
      `select encode(sha256(
         coalesce(string_agg(sha256(convert_to(folded::text, 'UTF8')), '' order by folded::text), '')
       ), 'hex') as digest
       from ${schema}.${table} as folded`,
    );
    digests[table] = rows[0]?.digest ?? '';
  }
  return digests;
}
