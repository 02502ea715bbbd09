import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { suspendWallet } from '../../api/account/suspensions.ts';
import { openRequestSecret } from '../../api/sql/schema.ts';
import { createSealing } from '../../common/sealing.ts';
import { bindLedger } from '../../indexer/mirror/bindLedger.ts';
import { migrate } from '../../indexer/sql/migrate.ts';
import { insertLedger } from '../../indexer/sql/progress.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';
import { needs } from '../../testing/machine/needs.ts';
import { runScript } from '../../testing/machine/shell.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { codeBlocks, readDocuments } from './documents.ts';

const tools = needs('pg_dump 18');
const page = readDocuments().filter(({ path }) => path === 'docs/backup.md');
const [dump = '', restore = ''] = page.flatMap((document) => codeBlocks(document, ['sh']));
const folder = ownFolder('backup');
const file = join(folder, 'service.backup');
const addresses = createAddresses();
const sealing = createSealing(Buffer.alloc(32, 7));
const wallet = Keypair.generate().publicKey.toBase58();
let kept: PooledDatabase;

const run = (script: string, { databaseUrl }: PooledDatabase): Promise<string> =>
  runScript(script, { cwd: folder, env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl } });

/** Every row of every table of the service, in one text a table. */
async function contentsOf(pool: pg.Pool): Promise<Record<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select 'service.' || tablename as name from pg_tables where schemaname = 'service'`,
  );
  const contents: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query(`select row::text as text from ${name} row order by 1`);
    contents[name] = rows.map(({ text }) => text);
  }
  return contents;
}

async function withEmptyDatabase(work: (empty: PooledDatabase) => Promise<void>): Promise<void> {
  const empty = await openPooledDatabase({ isEmpty: true });
  try {
    await work(empty);
  } finally {
    await empty.close();
  }
}

beforeAll(async () => {
  kept = await openPooledDatabase();
  await createKey(kept.pool, wallet);
  await suspendWallet(kept.pool, wallet, 'a tab\there, a line\nbreak, \\. and ,"');
  await openRequestSecret(kept.pool, sealing);
  const programId = addresses.programId.toBase58();
  await insertLedger(kept.pool, { genesisHash: 'own', programId });
  if (tools.isMet) await run(dump, kept);
});

afterAll(() => kept?.close());

describe('a backup by the commands of docs/backup.md', () => {
  tools.it('is a database’s whole schema, readable by its owner alone', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await withEmptyDatabase(async (restored) => {
      await run(restore, restored);
      expect(await contentsOf(restored.pool)).toEqual(await contentsOf(kept.pool));
    });
  });

  tools.it('is refused by an indexer of another ledger, and gets a mirror by its own', async () => {
    await withEmptyDatabase(async (restored) => {
      await run(restore, restored);
      await migrate(restored.pool);
      const bind = (genesisHash: string) =>
        bindLedger({
          database: restored.pool,
          source: { genesisHash: async () => genesisHash },
          addresses,
        });
      await expect(bind('another')).rejects.toThrow('each needs its own database');
      await bind('own');
      expect((await restored.pool.query('select from mirror_first.jobs')).rowCount).toBe(0);
      expect(await openRequestSecret(restored.pool, sealing)).toHaveLength(32);
    });
  });

  tools.it('leaves no row behind when the file was cut off', async () => {
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 500));
    await withEmptyDatabase(async (restored) => {
      await expect(run(restore, restored)).rejects.toThrow('pg_restore: error');
      const { rows } = await restored.pool.query(`select to_regclass('service.api_keys') as keys`);
      expect(rows).toEqual([{ keys: null }]);
    });
    writeFileSync(file, whole);
  });
});
