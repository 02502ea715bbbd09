import { once } from 'node:events';
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
import { type AddressInfo, createServer, type Socket } from 'node:net';
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

  it('leads the next start to a server that outlived its stack', async () => {
    const { databaseUrl, exited } = await startDatabase();
    const [{ directory }] = (await execute(
      databaseUrl,
      `select current_setting('data_directory') as directory`,
    )) as [{ directory: string }];
    await recordDatabase(folder, { databaseUrl, isKept: false });

    await removeLeftoverDatabase(folder);

    expect(await exited).toContain('PostgreSQL ended unexpectedly');
    expect([existsSync(directory), readdirSync(folder)]).toEqual([false, []]);
  });

  /** A port that takes connections and does with them what is given. */
  async function recordAt(connected: (socket: Socket) => void) {
    const server = createServer(connected).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const directory = mkdtempSync(join(folder, 'data-'));
    const databaseUrl = `postgres://svc@127.0.0.1:${port}/svc`;
    const record = JSON.stringify({ databaseUrl, directory, isKept: false });
    writeFileSync(join(folder, 'database.json'), record);
    return { server, directory };
  }

  it('keeps the data of a server that is silent, and names the remedy', async () => {
    const { server, directory } = await recordAt(() => undefined);
    const removal = removeLeftoverDatabase(folder, { connectTimeoutMs: 50 });
    await expect(removal).rejects.toThrow('End its postgres process');
    server.close();
    expect(existsSync(directory)).toBe(true);
  });

  it('takes a server that is gone for ended', async () => {
    const { server, directory } = await recordAt(() => undefined);
    server.close();
    await once(server, 'close');
    await removeLeftoverDatabase(folder);
    expect([existsSync(directory), readdirSync(folder)]).toEqual([false, []]);
  });
});
