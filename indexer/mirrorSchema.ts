import type { Database } from '../runtime/postgres.ts';
import { listMigrations } from './migrations.ts';

/** Where readers find the mirror. */
export const MIRROR_SCHEMA = 'mirror';

/**
 * Makes the schema the one that this connection's statements work on: they name the mirror's
 * tables alone, so that another mirror can be made beside the one that is read.
 *
 * Each statement with a name is planned once there, by its indexes: planned anew each time, folding
 * one settlement took twice as long; and a plan of when the mirror was nearly empty would otherwise
 * read whole tables for ever.
 */
export async function useSchema(client: Database, schema: string): Promise<void> {
  await client.query(`set search_path = ${schema}`);
  await client.query('set plan_cache_mode = force_generic_plan');
  await client.query('set enable_seqscan = off');
}

/** Makes an empty mirror, to be called in a database transaction. */
export async function createMirrorSchema(client: Database, schema: string): Promise<void> {
  await client.query(`create schema ${schema}`);
  await client.query(`set local search_path = ${schema}`);
  for (const migration of await listMigrations()) {
    if (migration.isOfMirror) await client.query(await migration.read());
  }
}
