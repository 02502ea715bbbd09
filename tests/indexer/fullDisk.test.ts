import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type pg from 'pg';
import { createPool } from '../../common/postgres.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import { compareJournal } from '../../indexer/reconcile/journal.ts';
import { classify, RetryableError } from '../../indexer/source/errors.ts';
import { MIRROR_SCHEMA, useSchema } from '../../indexer/sql/schema.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
import { needs } from '../../testing/machine/needs.ts';

const TRANSACTIONS = 6_000;
const SMALL = '32m';
const LARGE = '1g';

const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
const tablespace = `small_${randomBytes(6).toString('hex')}`;

function mount(options: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;
}

/** Only the system's administrator may make a disk of a given size. */
const disk = needs('the right to mount');
if (disk.isMet) mount(`size=${SMALL}`);

let database: TestDatabase;
let serverUrl: string;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = 'postgres';
  serverUrl = url.href;
  if (disk.isMet) {
    const [row] = await execute(serverUrl, 'show data_directory');
    const { uid, gid } = statSync((row as { data_directory: string }).data_directory);
    chownSync(folder, uid, gid);
    chmodSync(folder, 0o700);
    await execute(serverUrl, `create tablespace ${tablespace} location '${folder}'`);
    await execute(serverUrl, `alter database ${name} set tablespace ${tablespace}`);
  }
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
});

afterAll(async () => {
  await pool?.end();
  await database?.close();
  if (disk.isMet) {
    await execute(serverUrl, `drop tablespace ${tablespace}`);
    spawnSync('umount', [folder]);
  }
  rmSync(folder, { recursive: true });
});

async function synchronize(): Promise<void> {
  const client = await pool.connect();
  try {
    await useSchema(client, MIRROR_SCHEMA);
    await finalize({
      ...{ database: client, source: createSyntheticSource(TRANSACTIONS), addresses },
      ...{ commitment: 'confirmed', outbox: null, onFolded: () => {} },
      signal: new AbortController().signal,
    });
  } finally {
    client.release(true);
  }
}

async function count(table: string, client: pg.Pool | pg.PoolClient = pool): Promise<bigint> {
  const { rows } = await client.query<{ rows: bigint }>(`select count(*) as rows from ${table}`);
  return rows[0]?.rows ?? 0n;
}

describe('a disk that fills during a first sync', () => {
  disk.it('is named as the reason, and costs no transaction once there is room', async () => {
    // A new connection may have to write a file first, which a full disk refuses.
    const reader = await pool.connect();
    const failure = await synchronize().catch((error: unknown) => error);
    expect(String(failure)).toContain('No space left on device');
    // As the indexer takes it: it waits, and goes on at its cursor.
    expect(classify(failure)).toBeInstanceOf(RetryableError);
    const stored = await count('mirror.transactions', reader);
    reader.release();
    expect(stored).toBeGreaterThan(0n);
    expect(stored).toBeLessThan(BigInt(TRANSACTIONS));
    expect(mount(`remount,size=${LARGE}`)).toBe(true);
    const { signal } = new AbortController();
    expect(await compareJournal(pool, addresses, signal)).toEqual([]);
    await synchronize();
    expect(await count('mirror.transactions')).toBe(BigInt(TRANSACTIONS));
    expect(await count('mirror.jobs where closed')).toBe(BigInt(TRANSACTIONS - 1));
    expect(await compareJournal(pool, addresses, signal)).toEqual([]);
  });
});
