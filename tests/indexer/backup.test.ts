import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { createKey, listKeys } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import { listServiceTables, restoreBackup, writeBackup } from '../../indexer/backup/backup.ts';
import { bindLedger } from '../../indexer/mirror/bindLedger.ts';
import { MIRROR_SCHEMA, useSchema } from '../../indexer/sql/schema.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
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
    `insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason)
     select key_sha256, wallet, 'operator', $2 from service.api_keys where wallet = $1`,
    [key?.wallet, 'a tab\there, a line\nbreak, \\. and {"rows":0}'],
  );
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
    await withEmptyDatabase(async (databaseUrl) => {
      await restoreBackup(databaseUrl, pathOf('whole.backup'));
      const restored = createPool({ databaseUrl, applicationName: 'test', max: 1 });
      expect(await contentsOf(restored)).toEqual(await contentsOf(pool));
      const { rows } = await restored.query(
        `insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason, lifted_at, forgiven_until)
         select key_sha256, wallet, suspended_by, reason, now(), 1 from service.key_suspensions
         returning id`,
      );
      expect(rows).toEqual([{ id: 2n }]);
      await restored.end();
    });
  });

  it('can be read by its owner alone', () => {
    expect(statSync(pathOf('whole.backup')).mode & 0o777).toBe(0o600);
  });

  it('is refused by a database that has the schema, which stays as it is', async () => {
    const before = await contentsOf(pool);
    await expect(restoreBackup(database.databaseUrl, pathOf('whole.backup'))).rejects.toThrow(
      'The database has a schema service already: restore into an empty one',
    );
    expect(await contentsOf(pool)).toEqual(before);
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

  it('makes its database refuse the indexer of another ledger or program', async () => {
    const ledger = { genesisHash: 'its genesis', programId: addresses.programId.toBase58() };
    await pool.query('insert into mirror.ledger (genesis_hash, program_id) values ($1, $2)', [
      ledger.genesisHash,
      ledger.programId,
    ]);
    await writeBackup(database.databaseUrl, pathOf('bound.backup'));
    await withEmptyDatabase(async (databaseUrl) => {
      await restoreBackup(databaseUrl, pathOf('bound.backup'));
      const restored = createPool({ databaseUrl, applicationName: 'test', max: 1 });
      const client = await restored.connect();
      await useSchema(client, MIRROR_SCHEMA);
      const bindTo = (genesisHash: string, as = addresses) =>
        bindLedger({
          database: client,
          addresses: as,
          source: { ...createSyntheticSource(1), genesisHash: async () => genesisHash },
        });
      await bindTo(ledger.genesisHash);
      const refusal = 'names the mirror of program';
      await expect(bindTo('another genesis')).rejects.toThrow(refusal);
      const other = createAddresses(Keypair.generate().publicKey);
      await expect(bindTo(ledger.genesisHash, other)).rejects.toThrow(refusal);
      client.release();
      await restored.end();
    });
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
