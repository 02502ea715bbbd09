import { hash } from 'node:crypto';
import type { QueryConfig } from 'pg';
import { MIRROR_TABLES, type TableName } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import { type Change, type MergedChange, mergeChanges } from '../fold/change.ts';
import { FatalError } from '../source/errors.ts';
import { copiedRow, copyRows } from './copyRows.ts';

/**
 * Runs `work` in one database transaction on a connection that the caller owns. If the rollback
 * fails too, the connection is gone and the server has rolled back by itself.
 */
export async function atomically<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  await database.query('begin');
  try {
    const result = await work();
    await database.query('commit');
    return result;
  } catch (error) {
    await database.query('rollback').catch(() => undefined);
    throw error;
  }
}

/**
 * Waits for work of one database transaction that was begun together, also where some of it fails.
 * Statements that one part sends once another has failed would come after the rollback, and stay.
 *
 * @throws what the first part that failed has thrown
 */
export async function allOf<Parts extends readonly unknown[]>(
  parts: readonly [...{ [Part in keyof Parts]: Promise<Parts[Part]> }],
): Promise<Parts> {
  const results = await Promise.allSettled(parts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return Promise.all(parts) as Promise<unknown> as Promise<Parts>;
}

/**
 * Writes changes of accounts into their tables, each account once, and those of the same columns
 * together. Table and column names are those of `MIRROR_TABLES`; only the values come from the ledger.
 *
 * @param changes each account's in the order of its sequence, without a gap
 * @throws FatalError when a row is not at the sequence before, which the caller has checked
 */
export async function writeChanges(database: Database, changes: readonly Change[]): Promise<void> {
  await writeMerged(database, mergeChanges(changes));
}

/** Writes many changes as `writeChanges` does, on an idle connection: new rows by `COPY`. */
export async function copyChanges(
  database: Database,
  merged: readonly MergedChange[],
): Promise<void> {
  const isCopied = (change: MergedChange) => isNew(change) && COPIED.has(change.table);
  const made = Map.groupBy(merged.filter(isCopied), formOf);
  for (const alike of made.values()) await copyNew(database, alike);
  await writeMerged(
    database,
    merged.filter((change) => !isCopied(change)),
  );
}

/** The tables of many rows. The others also have lists, which `COPY` writes in another form. */
const COPIED: ReadonlySet<TableName> = new Set(['jobs', 'credit_accounts']);

async function copyNew(database: Database, alike: readonly MergedChange[]): Promise<void> {
  const [{ table, values }] = alike as [MergedChange];
  const names = Object.keys(values);
  const rows = alike.map((one) =>
    copiedRow([one.address, one.sequence, ...names.map((name) => one.values[name])]),
  );
  await copyRows(database, {
    table,
    columns: ['address', 'sequence', ...names].join(),
    rows: rows.join(''),
  });
}

/** All at once: a statement sent after an answer could come after a rollback, and stay. */
async function writeMerged(database: Database, merged: readonly MergedChange[]): Promise<void> {
  const rows = [...Map.groupBy(merged, formOf).values()].map(async (alike) => {
    const { rowCount } = await database.query(statementOf(alike));
    if (rowCount === alike.length) return;
    const accounts = alike.map((one) => `${one.address} for its change ${one.sequence}`);
    throw new FatalError(`Not ready: ${accounts.join()}`);
  });
  const hostings = merged.flatMap(({ address, hosting }) =>
    [...hosting].map(([model, hosts]) => writeHosting(database, { worker: address, model, hosts })),
  );
  await Promise.all([...rows, ...hostings]);
}

function isNew({ sequenceBefore }: MergedChange): boolean {
  return sequenceBefore === 0n;
}

/** Equal for changes that one statement can write. */
function formOf(change: MergedChange): string {
  return [isNew(change), change.table, ...Object.keys(change.values)].join();
}

function statementOf(alike: readonly MergedChange[]): QueryConfig {
  const [first] = alike as [MergedChange];
  return isNew(first) ? insertion(first, alike) : overwriting(first, alike);
}

function insertion({ table, values }: MergedChange, alike: readonly MergedChange[]): QueryConfig {
  const names = ['address', 'sequence', ...Object.keys(values)].join();
  return {
    name: `insert_${table}`,
    text: `
      insert into ${table} (${names})
      select ${names} from jsonb_populate_recordset(null::${table}, $1)`,
    values: [rowsOf(alike)],
  };
}

function overwriting({ table, values }: MergedChange, alike: readonly MergedChange[]): QueryConfig {
  const names = ['sequence', ...Object.keys(values)];
  const paired = new Map(MIRROR_TABLES[table].paired);
  const settings = names.map((name) => {
    const other = paired.get(name);
    return other === undefined
      ? `${name} = change.${name}`
      : `${name} = case when account.${other} = change.${other}
           then account.${name} else change.${name} end`;
  });
  return {
    // The server compares only the first 63 characters of names.
    name: `update_${table}_${hash('md5', names.join())}`,
    text: `
      update ${table} account set ${settings.join()}
      from rows from (jsonb_populate_recordset(null::${table}, $1), unnest($2::numeric[])) change
      where account.address = change.address and account.sequence = change.unnest`,
    values: [rowsOf(alike), alike.map(({ sequenceBefore }) => sequenceBefore)],
  };
}

/** In JSON, with 64-bit integers as text. */
function rowsOf(alike: readonly MergedChange[]): string {
  const rows = alike.map(({ address, sequence, values }) => ({ address, sequence, ...values }));
  return JSON.stringify(rows, (_name, value) => (typeof value === 'bigint' ? `${value}` : value));
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
