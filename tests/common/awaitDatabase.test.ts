import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { assertMigrated } from '../../api/sql/schema.ts';
import { createLogger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import { awaitDatabase } from '../../common/transientErrors.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

describe('a process that starts with the database', () => {
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
    const write = () => {
      throw new Error('it waits');
    };
    const logger = createLogger({ name: 'test', level: 'warn', into: { write } });
    await expect(awaitDatabase(() => pool.query('select nonsense'), logger)).rejects.toThrow(
      'nonsense',
    );
  });
});
