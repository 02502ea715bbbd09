import type { Database } from '../../common/postgres.ts';
import type { TableName } from '../apply/tables.ts';
import type { ComparedRow } from './difference.ts';

/** Each with what its rows meet while their accounts are on the ledger. */
const LIVE: Readonly<Record<TableName, string>> = {
  config: 'true',
  treasury: 'true',
  gateways: 'true',
  credit_accounts: 'true',
  models: 'true',
  workers: 'true',
  jobs: 'not closed',
};

type Row = { address: string; sequence: bigint } & Record<string, unknown>;

/** The rows of the given accounts, by address; of closed jobs, too. */
export function readRows(
  database: Database,
  addresses: readonly string[],
): Promise<Map<string, ComparedRow>> {
  return read(database, () => 'address = any($1)', [addresses]);
}

/** Every row whose account is still on the ledger, by address. */
export function readLiveRows(database: Database): Promise<Map<string, ComparedRow>> {
  return read(database, (table) => LIVE[table], []);
}

async function read(
  database: Database,
  conditionOf: (table: TableName) => string,
  parameters: unknown[],
): Promise<Map<string, ComparedRow>> {
  const rows = new Map<string, ComparedRow>();
  for (const table of Object.keys(LIVE) as TableName[]) {
    const found = await database.query<Row>(
      `select * ${table === 'workers' ? `, ${HOSTED} as models` : ''}
       from ${table} where ${conditionOf(table)}`,
      parameters,
    );
    for (const { address, sequence, ...values } of found.rows) {
      rows.set(address, { sequence, values });
    }
  }
  return rows;
}

const HOSTED = `array(
  select model from worker_models where worker = workers.address order by model collate "C")`;
