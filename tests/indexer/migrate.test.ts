import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  DatabaseTooNewError,
  MIGRATION_LOCK_KEY,
  migrate,
  readMigrationState,
} from '../../indexer/sql/migrate.ts';
import { listMigrations, serveMirror } from '../../indexer/sql/schema.ts';
import { SVC_MAIN } from '../../testing/childProcess.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';
import { until } from '../../testing/until.ts';
import { dumpSchema } from './schemaDump.ts';

let database: PooledDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openPooledDatabase({ isEmpty: true });
  pool = database.pool;
});

afterAll(() => database?.close());

/** Until so many connections of the database wait for another. */
const untilWaiting = (database: pg.Pool, count: number): Promise<void> =>
  until(async () => {
    const { rowCount } = await database.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === count;
  });

describe('migrate', () => {
  it('applies every migration once when ten processes start together', async () => {
    await Promise.all(Array.from({ length: 10 }, () => migrate(pool)));
    const { rows } = await pool.query('select id from service.migrations order by id');
    const migrations = await listMigrations();
    expect(migrations.length).toBeGreaterThan(3);
    expect(rows).toEqual(migrations.map(({ id }) => ({ id })));
  });

  it('changes nothing the second time and keeps the stored rows', async () => {
    await serveMirror(pool);
    await pool.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ('a', 'b', 'active')`,
    );
    await pool.query(`insert into mirror.cursors (name, slot) values ('confirmed', 7)`);
    await migrate(pool);
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(1);
    expect((await pool.query('select from mirror.cursors')).rowCount).toBe(1);
  });

  it.each([
    ['was dropped', 'drop schema mirror cascade'],
    ['is an empty schema', 'drop schema mirror cascade; create schema mirror'],
  ])('creates the mirror again when it %s, unseen, and keeps the keys', async (_how, loss) => {
    const before = await dumpSchema(pool);
    expect(before.length).toBeGreaterThan(100);
    await pool.query(loss);
    await Promise.all([migrate(pool), migrate(pool)]);
    await expect(pool.query('select from mirror.jobs')).rejects.toThrow('does not exist');
    await serveMirror(pool);
    expect(await dumpSchema(pool)).toEqual(before);
    expect((await pool.query('select from mirror.cursors')).rowCount).toBe(0);
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(1);
  });

  it('runs again when another process locks the same things in another order', async () => {
    const fresh = await openPooledDatabase({ isEmpty: true });
    const other = await fresh.pool.connect();
    // PostgreSQL ends the transaction that first looks for a deadlock: never this one.
    await other.query(`begin; set local deadlock_timeout = '1h'`);
    await other.query('create schema service; create table service.webhooks ()');
    const migrating = migrate(fresh.pool);
    await untilWaiting(fresh.pool, 1);
    const locked = other.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK_KEY]);
    await untilWaiting(fresh.pool, 2);
    // The migration is ended, and waits for its own lock from then on.
    await locked;
    await other.query('rollback');
    other.release();
    await migrating;
    expect(await readMigrationState(fresh.pool)).toMatchObject({ missing: 0 });
    await fresh.close();
  });

  it('leaves nothing when svc migrate is killed half-way, and then finishes', async () => {
    const fresh = await openPooledDatabase({ isEmpty: true });
    const state = () => readMigrationState(fresh.pool);
    const before = await state();
    await fresh.pool.query('create schema service');
    // Four migrations are done when the fifth waits for this table.
    const other = await fresh.pool.connect();
    await other.query('begin; create table service.webhooks ()');
    const child = spawn(process.execPath, [SVC_MAIN, 'migrate'], {
      env: { ...process.env, DATABASE_URL: fresh.databaseUrl },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await untilWaiting(fresh.pool, 1);
    child.kill('SIGKILL');
    await ended;
    await other.query('rollback');
    other.release();
    await until(async () => {
      const { rowCount } = await fresh.pool.query(
        `select from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'
           and application_name <> 'test'`,
      );
      return rowCount === 0;
    });
    expect(await state()).toEqual(before);
    await migrate(fresh.pool);
    expect(await state()).toMatchObject({ missing: 0 });
    await fresh.close();
  });

  it('refuses a database that a newer release has migrated', async () => {
    await pool.query('insert into service.migrations (id) values (999)');
    await expect(migrate(pool)).rejects.toThrow(DatabaseTooNewError);
  });

  it('refuses a database of before the first release, and says what to do', async () => {
    await pool.query('delete from service.migrations');
    await pool.query('insert into service.migrations (id) select generate_series(1, 29)');
    await expect(migrate(pool)).rejects.toThrow(
      /^Migration 7 is not known here: .* before the first one\. .* name an empty database$/,
    );
  });
});
