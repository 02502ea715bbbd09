import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  createKey,
  hashKey,
  KeyExistsError,
  KeyNotFoundError,
  regenerateKey,
  reinstateKey,
  revokeKey,
  suspendKey,
} from '../../api/account/keys.ts';
import { selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { createPool } from '../../common/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';

const wallet = 'a wallet';
let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ databaseUrl: database.databaseUrl, applicationName: 'test' });
});

beforeEach(async () => {
  await pool.query('delete from service.api_keys');
});

afterAll(async () => {
  await pool.end();
  await database.close();
});

async function statusOf(key: string): Promise<string | undefined> {
  const [found] = await selectKeysAndAccounts(pool, [hashKey(key)]);
  return found?.status;
}

describe('API keys', () => {
  it('have the published form and are stored only as a hash [keys.form]', async () => {
    const key = await createKey(pool, wallet);
    expect(key).toMatch(/^svc_live_[A-Za-z0-9]{32}$/);
    const { rows } = await pool.query('select * from service.api_keys');
    expect(JSON.stringify(rows)).not.toContain(key.slice('svc_live_'.length));
    expect(await statusOf(key)).toBe('active');
  });

  it('exist once per wallet, even if two are created at the same time [keys.one-per-wallet]', async () => {
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => createKey(pool, wallet)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of made) {
      if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(KeyExistsError);
    }
  });

  it('are replaced in one step: the old one ends as the new one begins [keys.one-per-wallet]', async () => {
    const old = await createKey(pool, wallet);
    const next = await regenerateKey(pool, wallet);
    expect([await statusOf(old), await statusOf(next)]).toEqual(['revoked', 'active']);
  });

  it('stay revoked and leave room for a new one', async () => {
    const key = await createKey(pool, wallet);
    await revokeKey(pool, wallet);
    expect(await statusOf(key)).toBe('revoked');
    await expect(reinstateKey(pool, wallet)).rejects.toThrow(KeyNotFoundError);
    await createKey(pool, wallet);
  });

  it('can be suspended and reinstated, but not replaced while suspended', async () => {
    const key = await createKey(pool, wallet);
    await suspendKey(pool, wallet);
    expect(await statusOf(key)).toBe('suspended');
    await expect(regenerateKey(pool, wallet)).rejects.toThrow(KeyNotFoundError);
    await expect(createKey(pool, wallet)).rejects.toThrow(KeyExistsError);
    await reinstateKey(pool, wallet);
    expect(await statusOf(key)).toBe('active');
  });
});
