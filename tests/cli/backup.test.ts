import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { bashOn } from '../../testing/machine/shell.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** @returns its exit code, what it says, and the files that are there then */
async function backup(databaseUrl = database.databaseUrl, file = 'kept') {
  const env = { DATABASE_URL: databaseUrl };
  const { code, output, error } = await runCli(['backup', file], { env, cwd: folder });
  return { code, said: `${output}${error}`.trim(), files: readdirSync(folder) };
}

describe('svc backup', () => {
  it('refuses a file that is there, leaves it as it is, and says what to do', async () => {
    writeFileSync(join(folder, 'kept'), 'of yesterday');
    expect(await backup()).toEqual({
      code: 1,
      said: 'kept is there already: name another file, or move this one away.',
      files: ['kept'],
    });
    expect(readFileSync(join(folder, 'kept'), 'utf8')).toBe('of yesterday');
  });

  it('refuses while another one writes the same file, and leaves that alone', async () => {
    writeFileSync(join(folder, 'kept.partial'), 'half');
    const { code, said, files } = await backup();
    expect([code, files]).toEqual([1, ['kept.partial']]);
    expect(said).toMatch(/^kept\.partial is there already: another backup writes it/);
    expect(readFileSync(join(folder, 'kept.partial'), 'utf8')).toBe('half');
  });

  it('names a folder that is not there', async () => {
    expect(await backup(database.databaseUrl, 'none/kept')).toEqual({
      code: 1,
      said: 'none/kept.partial cannot be written (ENOENT).',
      files: [],
    });
  });

  it('leaves no file when the database fails', async () => {
    const empty = await createTestDatabase({ isEmpty: true });
    const { code, said, files } = await backup(empty.databaseUrl);
    expect([code, files]).toEqual([1, []]);
    expect(said).toContain('is empty: the indexer sets it up');
    await empty.close();
  });

  it('leaves no file when the disk takes no more', async () => {
    await execute(
      database.databaseUrl,
      `insert into service.worker_observations (worker, model_id, first_token_ms)
       select md5(i::text), md5((-i)::text), 1 from generate_series(1, 2000) i`,
    );
    const svc = join(PROJECT_FOLDER, 'cli/main.ts');
    // A file may have 1,024 bytes: more is refused as by a full disk.
    const script = `ulimit -f 1; exec "${process.execPath}" "${svc}" backup kept`;
    const env = { ...MACHINE_ENVIRONMENT, DATABASE_URL: database.databaseUrl };
    const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
      execFile(...bashOn(script), { cwd: folder, env }, (error, output, text) =>
        resolve({ code: error?.code, said: `${output}${text}`.trim() }),
      );
    });
    expect([code, said]).toEqual([1, 'kept cannot be written (EFBIG).']);
    expect(readdirSync(folder)).toEqual([]);
  });
});
