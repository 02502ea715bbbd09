import type { Database } from '../common/postgres.ts';
import { listMigrations } from './migrations.ts';

/** Where readers find the mirror. */
export const MIRROR_SCHEMA = 'mirror';

/**
 * How the mirror's statements are planned: those with a name once, and by their indexes. Planned
 * anew each time, folding one settlement took twice as long; and a plan of when the mirror was
 * nearly empty would otherwise read whole tables for ever.
 */
export const PLAN_SETTINGS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

/**
 * Makes the schema the one that this connection's statements work on: they name the mirror's
 * tables alone, so that another mirror can be made beside the one that is read.
 */
export async function useSchema(client: Database, schema: string): Promise<void> {
  const settings = Object.entries({ search_path: schema, ...PLAN_SETTINGS });
  await client.query(settings.map(([name, value]) => `set ${name} = ${value}`).join('; '));
}

/** Makes an empty mirror, to be called in a database transaction. */
export async function createMirrorSchema(client: Database, schema: string): Promise<void> {
  await client.query(`create schema ${schema}`);
  await client.query(`set local search_path = ${schema}`);
  for (const migration of await listMigrations()) {
    if (migration.isOfMirror) await client.query(await migration.read());
  }
}
