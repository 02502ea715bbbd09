import type { QueryConfig } from 'pg';
import type { Database } from '../../runtime/postgres.ts';
import { FatalError } from '../errors.ts';
import type { Change } from './change.ts';
import { type MergedChange, mergeChanges } from './mergeChanges.ts';

/**
 * Writes changes of accounts into their tables, each account once. Table and column names are those
 * of `Tables`; only the values come from the ledger.
 *
 * @param changes each account's in the order of its sequence, without a gap
 * @throws FatalError when a row is not at the sequence before, which the caller has checked
 */
export async function writeChanges(database: Database, changes: readonly Change[]): Promise<void> {
  for (const change of mergeChanges(changes)) {
    const { address, sequenceBefore, sequence, hosting } = change;
    const isNew = sequenceBefore === 0n;
    const { rowCount } = await database.query(isNew ? insertion(change) : overwriting(change));
    if (rowCount !== 1) throw new FatalError(`${address} was not ready for its change ${sequence}`);
    for (const [model, hosts] of hosting) {
      await writeHosting(database, { worker: address, model, hosts });
    }
  }
}

function insertion({ table, address, sequence, values }: MergedChange): QueryConfig {
  const names = ['address', 'sequence', ...Object.keys(values)];
  const places = names.map((_name, index) => `$${index + 1}`);
  return {
    name: `insert_${table}`,
    text: `insert into ${table} (${names.join()}) values (${places.join()})`,
    values: [address, sequence, ...Object.values(values)],
  };
}

/** Not a named statement: a plan kept from when the mirror was nearly empty would read whole tables. */
function overwriting({
  table,
  address,
  sequenceBefore,
  sequence,
  values,
}: MergedChange): QueryConfig {
  const names = ['sequence', ...Object.keys(values)];
  const settings = names.map((name, index) => `${name} = $${index + 3}`);
  return {
    text: `update ${table} set ${settings.join()} where address = $1 and sequence = $2`,
    values: [address, sequenceBefore, sequence, ...Object.values(values)],
  };
}

async function writeHosting(
  database: Database,
  { worker, model, hosts }: { worker: string; model: string; hosts: boolean },
): Promise<void> {
  await database.query(
    hosts
      ? 'insert into worker_models (worker, model) values ($1, $2) on conflict do nothing'
      : 'delete from worker_models where worker = $1 and model = $2',
    [worker, model],
  );
}
