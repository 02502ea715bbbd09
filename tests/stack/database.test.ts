import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyTemplate, setPassword, startDatabase } from '../../stack/database.ts';
import { findFreePort } from '../../stack/port.ts';
import { execute } from '../../testing/database/database.ts';

/** What every server of an earlier version had. */
const CONSTANT_PASSWORD = 'postgres';
/** PostgreSQL's code for a wrong password. */
const REFUSED = { code: '28P01' };

let folder: string;
/** Data that each test finds as the one before left it. */
let directory: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-database-test-'));
  // The database's own user must be able to get there.
  chmodSync(folder, 0o755);
  directory = join(folder, 'postgres');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function takePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, leave: promisify(server.close.bind(server)) };
}

/** Refused with the password of another start, and with that of all earlier versions. */
async function expectRefused(databaseUrl: string, other: string): Promise<void> {
  for (const password of [CONSTANT_PASSWORD, new URL(other).password]) {
    const { href } = Object.assign(new URL(databaseUrl), { password });
    await expect(execute(href, 'select 1')).rejects.toMatchObject(REFUSED);
  }
}

describe('the embedded database', () => {
  it('admits only clients with this start’s password, also on copied data', async () => {
    const template = join(folder, 'template');
    const one = await startDatabase({ template });
    const other = await startDatabase({ template });
    try {
      await expectRefused(one.databaseUrl, other.databaseUrl);
      const origin = 'select system_identifier from pg_control_system()';
      expect(await execute(one.databaseUrl, origin)).toEqual(
        await execute(other.databaseUrl, origin),
      );
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });

  it('copies no data of another user than the server runs as', async () => {
    const foreign = process.getuid?.() === 0 ? mkdtempSync(join(folder, 'foreign-')) : '/root';
    const copied = mkdtempSync(join(folder, 'copied-'));
    expect(await copyTemplate(foreign, copied)).toBe(false);
  });

  it('sets a new password on existing data and keeps the data', async () => {
    const first = await startDatabase({ directory });
    await execute(first.databaseUrl, 'create table kept as select 1 as one');
    await first.close();
    await setPassword({ directory, user: 'postgres', password: CONSTANT_PASSWORD });

    const second = await startDatabase({ directory });
    try {
      await expectRefused(second.databaseUrl, first.databaseUrl);
      expect(await execute(second.databaseUrl, 'select one from kept')).toEqual([{ one: 1 }]);
    } finally {
      await second.close();
    }
  });

  it('uses another port when its own is occupied, and fails without any', async () => {
    const taken = await takePort();
    const given: number[] = [];
    const findPort = async () => {
      given.push(given.length === 0 ? taken.port : await findFreePort());
      return given.at(-1) as number;
    };
    const { databaseUrl, close } = await startDatabase({ directory, findPort });
    expect(given.length).toBeGreaterThan(1);
    expect(Number(new URL(databaseUrl).port)).toBe(given.at(-1));
    await close();

    const starting = startDatabase({ directory, findPort: async () => taken.port });
    await expect(starting).rejects.toThrow('Address already in use');
    await taken.leave();
  });

  it('reports why it cannot set a password, without the password', async () => {
    const { close } = await startDatabase({ directory });
    // Its files are in use.
    const setting = setPassword({ directory, user: 'postgres', password: 'opensesame' });
    const { message } = (await setting.catch((error: Error) => error as Error)) as Error;
    expect(message).toContain('postmaster.pid');
    expect(message).not.toContain('opensesame');
    await close();
  });
});
