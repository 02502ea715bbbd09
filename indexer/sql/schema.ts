import { readdir, readFile } from 'node:fs/promises';
import type { Database } from '../../common/postgres.ts';

const DIRECTORY = new URL('../migrations/', import.meta.url);
const FILE_NAME = /^(\d{6})_(\w+)\.sql$/;

/** One numbered step of the schema; steps are never changed once released, only added. */
export interface Migration {
  readonly id: number;
  /** Names its tables without a schema, so that the mirror can be made beside another one. */
  readonly isOfMirror: boolean;
  read(): Promise<string>;
}

/** All steps, in order. */
export async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(DIRECTORY)).sort();
  return files.flatMap((file) => {
    const [, id, name] = FILE_NAME.exec(file) ?? [];
    if (id === undefined || name === undefined) return [];
    return {
      id: Number(id),
      isOfMirror: name.startsWith('mirror'),
      read: () => readFile(new URL(file, DIRECTORY), 'utf8'),
    };
  });
}

/** Where readers find the mirror, whole. */
export const MIRROR_SCHEMA = 'mirror';
/** Where a mirror without a predecessor is made. Until it is whole, readers find none. */
export const FIRST_SCHEMA = 'mirror_first';

/**
 * How the mirror's statements are planned: named ones once, and all by their indexes. Planning each
 * time doubled the time to fold a settlement. A plan from when the mirror was nearly empty would
 * otherwise always read whole tables.
 */
export const PLAN_SETTINGS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

/**
 * Makes the schema the one that this connection's statements work on. They name the mirror's tables
 * without a schema, so that another mirror can be made beside the one that is read.
 */
export async function useSchema(client: Database, schema: string): Promise<void> {
  const settings = Object.entries({ search_path: schema, ...PLAN_SETTINGS });
  await client.query(settings.map(([name, value]) => `set ${name} = ${value}`).join('; '));
}

/** The schema of the mirror that is kept: the one that readers find, else the first one. */
export async function findMirror(database: Database): Promise<string> {
  const { rowCount } = await database.query('select from pg_tables where schemaname = $1 limit 1', [
    MIRROR_SCHEMA,
  ]);
  return rowCount === 0 ? FIRST_SCHEMA : MIRROR_SCHEMA;
}

/** Shows readers a first mirror, which is whole by now. The connection works on what they find. */
export async function serveMirror(client: Database): Promise<void> {
  if ((await findMirror(client)) === FIRST_SCHEMA) {
    await client.query(
      `drop schema if exists ${MIRROR_SCHEMA};
       alter schema ${FIRST_SCHEMA} rename to ${MIRROR_SCHEMA}`,
    );
  }
  await useSchema(client, MIRROR_SCHEMA);
}

/** Makes an empty mirror. The caller has begun a database transaction. */
export async function createMirrorSchema(client: Database, schema: string): Promise<void> {
  await client.query(`create schema ${schema}`);
  await client.query(`set local search_path = ${schema}`);
  for (const migration of await listMigrations()) {
    if (migration.isOfMirror) await client.query(await migration.read());
  }
}
