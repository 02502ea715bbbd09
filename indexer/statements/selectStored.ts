import type { Database } from '../../common/postgres.ts';

/** The slots of those transactions that are stored, by signature. */
export async function selectStored(
  database: Database,
  signatures: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: 'select signature, slot from transactions where signature = any($1)',
    values: [signatures],
  });
  return new Map(rows.map(({ signature, slot }) => [signature, slot]));
}
