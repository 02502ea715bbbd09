import type { Database } from '../../runtime/postgres.ts';
import { FatalError } from '../errors.ts';
import type { Change } from './change.ts';

/**
 * Writes one change of one account into its table. Table and column names are those of `Tables`;
 * only the values come from the ledger.
 *
 * @throws FatalError when the row is not at the sequence before, which the caller has checked
 */
export async function writeChange(database: Database, change: Change): Promise<void> {
  const columns = Object.keys(change.values);
  const parameters = [change.address, change.sequence, ...Object.values(change.values)];
  const { rowCount } = await database.query(
    change.sequence === 1n ? insertion(change.table, columns) : overwriting(change.table, columns),
    parameters,
  );
  if (rowCount !== 1) {
    throw new FatalError(`${change.address} was not ready for its change ${change.sequence}`);
  }
  if (change.hosting) await writeHosting(database, change.address, change.hosting);
}

function insertion(table: string, columns: readonly string[]): string {
  const names = ['address', 'sequence', ...columns];
  const values = names.map((_name, index) => `$${index + 1}`);
  return `insert into mirror.${table} (${names.join()}) values (${values.join()})`;
}

function overwriting(table: string, columns: readonly string[]): string {
  const settings = ['sequence', ...columns].map((name, index) => `${name} = $${index + 2}`);
  return `update mirror.${table} set ${settings.join()} where address = $1 and sequence = $2 - 1`;
}

async function writeHosting(
  database: Database,
  worker: string,
  { model, hosts }: NonNullable<Change['hosting']>,
): Promise<void> {
  await database.query(
    hosts
      ? 'insert into mirror.worker_models (worker, model) values ($1, $2)'
      : 'delete from mirror.worker_models where worker = $1 and model = $2',
    [worker, model],
  );
}
