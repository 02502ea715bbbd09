import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
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

  it('does not wait after a permanent error', async () => {
    const said: string[] = [];
    await expect(begin('select nonsense', (word) => said.push(word))).rejects.toThrow('nonsense');
    expect(said).toEqual([]);
  });
});
