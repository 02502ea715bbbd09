import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { assertMigrated } from '../../api/sql/schema.ts';
import { createLogger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import { awaitDatabase } from '../../common/transientErrors.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';

let database: TestDatabase;
let gate: DatabaseGate;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await startDatabaseGate(database.databaseUrl);
  pool = createPool({ databaseUrl: gate.databaseUrl, applicationName: 'test' });
});

afterAll(async () => {
  await pool.end();
  await gate.close();
  await database.close();
});

/** Begins with a query, and calls back with the first word of the log. */
function begin(sql: string, onWaiting: (said: string) => void) {
  const into = { write: (line: string) => onWaiting(JSON.parse(line).msg) };
  const logger = createLogger({ name: 'test', level: 'warn', into });
  return awaitDatabase(() => pool.query(sql), logger);
}

describe('a process that starts with the database', () => {
  it('waits while the database is down and logs it', async () => {
    await gate.shut();
    const said: string[] = [];
    const { rows } = await begin('select 1 as one', (word) => {
      said.push(word);
      void gate.open();
    });
    expect(rows).toEqual([{ one: 1 }]);
    expect(said).toEqual(['Waiting for the database at DATABASE_URL']);
  });

  it('waits until the indexer has created the tables', async () => {
    const said: string[] = [];
    const { rows } = await begin('select * from late_table', (word) => {
      said.push(word);
      void pool.query('create table late_table (id integer)');
    });
    expect(rows).toEqual([]);
    expect(said).toEqual(['Waiting for the indexer, which makes the tables']);
  });

  it('waits until the database has every migration of this release', async () => {
    const { rows } = await pool.query<{ id: number }>(
      'delete from service.migrations where id = (select max(id) from service.migrations) returning id',
    );
    const said: string[] = [];
    const into = {
      write(line: string) {
        const { msg, reason } = JSON.parse(line);
        said.push(`${msg}: ${reason}`);
        void pool.query('insert into service.migrations values ($1), (999)', [rows[0]?.id]);
      },
    };
    const logger = createLogger({ name: 'test', level: 'warn', into });
    await awaitDatabase(() => assertMigrated(pool), logger);
    expect(said).toEqual([
      expect.stringMatching(`the tables: The database lacks migration ${rows[0]?.id} of this`),
    ]);
  });

  it('does not wait after a permanent error', async () => {
    const said: string[] = [];
    await expect(begin('select nonsense', (word) => said.push(word))).rejects.toThrow('nonsense');
    expect(said).toEqual([]);
  });
});
