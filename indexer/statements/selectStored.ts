import type { Database } from '../../runtime/postgres.ts';

/** Those of the signatures whose transactions are stored. */
export async function selectStored(
  database: Database,
  signatures: readonly string[],
): Promise<Set<string>> {
  const { rows } = await database.query<{ signature: string }>({
    text: 'select signature from transactions where signature = any($1)',
    values: [signatures],
  });
  return new Set(rows.map(({ signature }) => signature));
}
