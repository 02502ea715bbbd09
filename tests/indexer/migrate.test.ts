import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { DatabaseTooNewError, migrate } from '../../indexer/migrate.ts';
import { listMigrations } from '../../indexer/migrations.ts';
import { createPool } from '../../runtime/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeMirror } from './describeMirror.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
});

afterAll(async () => {
  await pool?.end();
  await database?.close();
});

describe('migrate', () => {
  it('applies every migration once, though ten processes start together', async () => {
    await Promise.all(Array.from({ length: 10 }, () => migrate(pool)));
    const { rows } = await pool.query('select id from service.migrations order by id');
    const migrations = await listMigrations();
    expect(migrations.length).toBeGreaterThan(3);
    expect(rows).toEqual(migrations.map(({ id }) => ({ id })));
  });

  it('finds nothing to do the next time, and keeps what is stored', async () => {
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
  ])('makes the mirror again where it %s, and keeps the keys', async (_how, loss) => {
    const before = await describeMirror(pool);
    expect(before.length).toBeGreaterThan(100);
    await pool.query(loss);
    await Promise.all([migrate(pool), migrate(pool)]);
    expect(await describeMirror(pool)).toEqual(before);
    expect((await pool.query('select from mirror.cursors')).rowCount).toBe(0);
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(1);
  });

  it('makes the mirror of a backup from an earlier release, and what this release adds', async () => {
    const before = await describeMirror(pool);
    await pool.query('drop schema mirror cascade');
    await pool.query('delete from service.migrations where id in (6, 7)');
    await migrate(pool);
    expect(await describeMirror(pool)).toEqual(before);
  });

  it('allows a wallet one live key and any number of revoked ones', async () => {
    const insert = (hash: string, status: string) =>
      pool.query(
        `insert into service.api_keys (key_sha256, wallet, status, revoked_at)
         values ($1, 'b', $2, case when $2 = 'revoked' then now() end)`,
        [hash, status],
      );
    await expect(insert('c', 'suspended')).rejects.toThrow('api_keys_wallet_live_idx');
    await insert('d', 'revoked');
    await insert('e', 'revoked');
  });

  it('refuses a database that a newer release has migrated', async () => {
    await pool.query('insert into service.migrations (id) values (999)');
    await expect(migrate(pool)).rejects.toThrow(DatabaseTooNewError);
  });
});
