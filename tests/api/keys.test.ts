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
import { until } from '../../testing/until.ts';

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

/** A pool whose transactions wait before a statement, once it is reached, until they may go on. */
function gatedBefore(statement: string) {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  async function connect() {
    const client = await pool.connect();
    const query = async (text: string, values?: unknown[]) => {
      if (text.startsWith(statement)) {
        reached.resolve();
        await gate.promise;
      }
      return client.query(text, values);
    };
    return { query, release: (error?: Error) => client.release(error) };
  }
  const gated = { connect } as unknown as pg.Pool;
  return { gated, reached: reached.promise, open: gate.resolve };
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

  it.each([
    ['revoked', revokeKey],
    ['suspended', suspendKey],
  ] as const)(
    'are %s whichever there is once a regeneration under way is over',
    async (status, end) => {
      await createKey(pool, wallet);
      const { gated, reached, open } = gatedBefore('insert into service.api_keys');
      const regenerating = regenerateKey(gated, wallet);
      await reached;
      const ending = end(pool, wallet);
      await until(async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      open();
      const next = await regenerating;
      await ending;
      expect(await statusOf(next)).toBe(status);
    },
  );

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
