import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { dumpSchema } from './schemaDump.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client(database.databaseUrl);
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.close();
});

describe('the schema of a database that was just migrated', () => {
  it('equals the committed one (update it with npm test -- tests/indexer/schema -u)', async () => {
    expect(await dumpSchema(client)).toMatchSnapshot();
  });
});
