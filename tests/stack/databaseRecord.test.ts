import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startDatabase } from '../../stack/database.ts';
import { recordDatabase, removeLeftoverDatabase } from '../../stack/databaseRecord.ts';
import { createTestDatabase, execute } from '../../testing/database/database.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-leftovers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the record of the database', () => {
  it('appears only when it is complete, and only its owner can read it', async () => {
    const database = await createTestDatabase();
    const path = join(folder, 'database.json');
    // What was there before keeps its text under another name, unless it is written over.
    writeFileSync(path, 'before');
    linkSync(path, join(folder, 'before'));
    // A process that was killed on the way left half of one.
    writeFileSync(`${path}.tmp`, '{"databaseUrl":', { mode: 0o644 });

    await recordDatabase(folder, { databaseUrl: database.databaseUrl, isKept: false });
    await database.close();

    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ isKept: false });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'before'), 'utf8')).toBe('before');
  });

  it('leads the next start to a server that outlived its stack, whose temporary data goes', async () => {
    const { databaseUrl, died } = await startDatabase();
    const [{ directory }] = (await execute(
      databaseUrl,
      `select current_setting('data_directory') as directory`,
    )) as [{ directory: string }];
    await recordDatabase(folder, { databaseUrl, isKept: false });

    await removeLeftoverDatabase(folder);

    expect(await died).toContain('PostgreSQL ended unexpectedly');
    expect([existsSync(directory), readdirSync(folder)]).toEqual([false, []]);
  });
});
