import { linkSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { recordDatabase } from '../../stack/databaseRecord.ts';
import { createTestDatabase } from '../../testing/database/database.ts';

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
});
