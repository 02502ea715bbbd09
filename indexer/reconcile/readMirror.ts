import type { Database } from '../../runtime/postgres.ts';
import type { TableName } from '../apply/tables.ts';

/** A row of the mirror with whatever columns its table has. */
export type MirrorRow = { address: string; sequence: bigint } & Record<string, unknown>;

const TABLES: readonly TableName[] = [
  'config',
  'treasury',
  'gateways',
  'credit_accounts',
  'models',
  'workers',
];

/** Every row whose account is still on the ledger, by table and address, and each worker's models. */
export async function readMirror(database: Database): Promise<{
  rows: ReadonlyMap<string, MirrorRow>;
  hosted: ReadonlyMap<string, string[]>;
}> {
  const rows = new Map<string, MirrorRow>();
  for (const table of TABLES) {
    const found = await database.query<MirrorRow>(`select * from mirror.${table}`);
    for (const row of found.rows) rows.set(row.address, row);
  }
  const jobs = await database.query<MirrorRow>('select * from mirror.jobs where not closed');
  for (const row of jobs.rows) rows.set(row.address, row);
  const hosted = await database.query<{ worker: string; models: string[] }>(
    'select worker, array_agg(model order by model) as models from mirror.worker_models group by worker',
  );
  return { rows, hosted: new Map(hosted.rows.map(({ worker, models }) => [worker, models])) };
}
