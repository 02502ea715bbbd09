import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
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
  it('equals the committed one (update: npm test -- tests/indexer/schema -u)', async () => {
    expect(await dumpSchema(client)).toMatchSnapshot();
  });

  it('has no table of the service whose bound docs/operating.md does not name', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'service'::regnamespace and relkind = 'r' order by relname`,
    );
    const document = readFileSync(join(PROJECT_FOLDER, 'docs/operating.md'), 'utf8');
    const [, table = ''] = document.split('| table | filled by | bound |');
    const [bounds = ''] = table.split('\n\n');
    const named = bounds.split('\n').flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? []);
    expect(named.sort()).toEqual(rows.map(({ name }) => name));
  });
});
