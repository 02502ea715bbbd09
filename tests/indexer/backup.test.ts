import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { createKey, listKeys } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import { listServiceTables, restoreBackup, writeBackup } from '../../indexer/backup/backup.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

let database: TestDatabase;
let pool: pg.Pool;
const folder = ownFolder('backup');
const pathOf = (name: string) => join(folder, name);

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  for (let wallets = 0; wallets < 3; wallets += 1) {
    await createKey(pool, Keypair.generate().publicKey.toBase58());
  }
  const [key] = await listKeys(pool);
  await pool.query(
    `insert into service.key_suspensions (wallet, suspended_by, reason)
     select wallet, 'operator', $2 from service.api_keys where wallet = $1`,
    [key?.wallet, 'a tab\there, a line\nbreak, \\. and {"rows":0}'],
  );
  await pool.query(`insert into mirror.ledger (genesis_hash, program_id) values ('a', 'b')`);
  await writeBackup(database.databaseUrl, pathOf('whole.backup'));
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

/** Every row of every table, in one text a table. */
async function contentsOf(of: pg.Pool): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  for (const { name } of await listServiceTables(of)) {
    const { rows } = await of.query(`select t::text as text from ${name} t order by 1`);
    contents[name] = rows.map(({ text }) => text);
  }
  return contents;
}

async function withEmptyDatabase(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const empty = await createTestDatabase({ isEmpty: true });
  try {
    await work(empty.databaseUrl);
  } finally {
    await empty.close();
  }
}

async function restoreOf(bytes: Uint8Array): Promise<unknown> {
  const path = pathOf('damaged.backup');
  writeFileSync(path, bytes);
  let failure: unknown;
  await withEmptyDatabase(async (databaseUrl) => {
    failure = await restoreBackup(databaseUrl, path).catch((error: unknown) => error);
    const restored = createPool({ databaseUrl, applicationName: 'test', max: 1 });
    const { rows } = await restored.query("select to_regclass('service.api_keys') as keys");
    if (rows[0].keys) expect(await listKeys(restored)).toEqual([]);
    await restored.end();
  });
  return failure;
}

describe('a backup', () => {
  it('fills an empty database with the same rows, whose ids go on', async () => {
    // It has the sealed secrets.
    expect(statSync(pathOf('whole.backup')).mode & 0o777).toBe(0o600);
    await withEmptyDatabase(async (databaseUrl) => {
      await restoreBackup(databaseUrl, pathOf('whole.backup'));
      const restored = createPool({ databaseUrl, applicationName: 'test', max: 1 });
      expect(await contentsOf(restored)).toEqual(await contentsOf(pool));
      // So that the indexer of another ledger or program is refused.
      const { rows: ledgers } = await restored.query('select * from mirror.ledger');
      expect(ledgers).toMatchObject([{ genesis_hash: 'a', program_id: 'b' }]);
      const { rows } = await restored.query(
        `insert into service.key_suspensions (wallet, suspended_by, reason, lifted_at, forgiven_until)
         select wallet, suspended_by, reason, now(), 1 from service.key_suspensions
         returning id`,
      );
      expect(rows).toEqual([{ id: 2n }]);
      await restored.end();
    });
  });

  it('leaves no row behind when it was cut off, wherever that was', async () => {
    const bytes = readFileSync(pathOf('whole.backup'));
    const text = gunzipSync(bytes).toString();
    const lines = text.split('\n');
    const cuts = [1, 3, Math.floor(lines.length / 2), lines.length - 2];
    for (const cut of cuts) {
      const failure = await restoreOf(gzipSync(`${lines.slice(0, cut).join('\n')}\n`));
      expect(String(failure)).toContain('it was cut off');
    }
    expect(String(await restoreOf(bytes.subarray(0, bytes.length - 20)))).toContain('is damaged');
  });

  it('is refused when a row is missing, or the file is something else', async () => {
    const text = gunzipSync(readFileSync(pathOf('whole.backup'))).toString();
    const [head = '', ...rest] = text.split('\n');
    const keys = rest.findIndex((line) => line.includes('"service.api_keys"'));
    const missing = [head, ...rest.toSpliced(keys + 1, 1)].join('\n');
    for (const bytes of [gzipSync(missing), Buffer.from('no backup'), gzipSync('{"format":2}\n')]) {
      expect(String(await restoreOf(bytes))).toContain('is damaged');
    }
  });
});
