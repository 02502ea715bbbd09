import type { Database } from '../../common/postgres.ts';

/** How many changes of each account the tables hold; accounts that they lack are not in the map. */
export async function selectSequences(
  database: Database,
  addresses: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ address: string; sequence: bigint }>({
    name: 'select_sequences',
    text: 'select address, sequence from sequences where address = any($1)',
    values: [addresses],
  });
  return new Map(rows.map(({ address, sequence }) => [address, sequence]));
}
