import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createPool, inTransaction } from '../../runtime/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DatabaseGate, startDatabaseGate } from '../support/databaseGate.ts';

let database: TestDatabase;
let gate: DatabaseGate;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await startDatabaseGate(database.databaseUrl);
  pool = createPool({ databaseUrl: gate.databaseUrl, applicationName: 'test', max: 1 });
  await pool.query('create table kept (value int)');
});

afterAll(async () => {
  await pool.end();
  await gate.close();
  await database.close();
});

describe('a transaction', () => {
  it('whose connection is lost between two statements fails, and nothing else does', async () => {
    const lost = inTransaction(pool, async (client) => {
      await client.query('insert into kept values (1)');
      await gate.shut();
      // An error that nobody hears would end the process by now.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await client.query('insert into kept values (2)');
    });
    await expect(lost).rejects.toThrow();

    await gate.open();
    await inTransaction(pool, (client) => client.query('insert into kept values (3)'));
    const { rows } = await pool.query('select value from kept');
    expect(rows).toEqual([{ value: 3 }]);
  });

  it('leaves nothing of itself on the connection that others use after it', async () => {
    const listeners = () => inTransaction(pool, async (client) => client.listenerCount('error'));
    const first = await listeners();
    for (let time = 0; time < 20; time += 1) await listeners();
    expect(await listeners()).toBe(first);
  });
});
