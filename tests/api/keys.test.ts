import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  createKey,
  KeyExistsError,
  KeyReplacedError,
  listKeys,
  regenerateKey,
  revokeKey,
} from '../../api/account/keys.ts';
import {
  reinstateWallet,
  SuspensionStateError,
  suspendWallet,
  WalletSuspendedError,
} from '../../api/account/suspensions.ts';
import { hashKey, selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';
import { until } from '../../testing/until.ts';

const wallet = 'a wallet';
let database: PooledDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openPooledDatabase();
  pool = database.pool;
});

beforeEach(async () => {
  await pool.query('truncate service.api_keys, service.key_suspensions');
});

afterAll(() => database?.close());

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

/** Until so many transactions wait for another one. */
const untilWaiting = (count: number): Promise<void> =>
  until(async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === count;
  });

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

  it.each([
    ['revoked', revokeKey],
    ['suspended', suspendWallet],
  ] as const)(
    'are %s whichever there is once a running regeneration is over',
    async (status, end) => {
      await createKey(pool, wallet);
      const { gated, reached, open } = gatedBefore('insert into service.api_keys');
      const regenerating = regenerateKey(gated, wallet);
      await reached;
      const ending = end(pool, wallet);
      await untilWaiting(1);
      open();
      const next = await regenerating;
      await ending;
      expect(await statusOf(next)).toBe(status);
    },
  );

  it('are replaced once by eight regenerations at once, and the shown works', async () => {
    const old = await createKey(pool, wallet);
    const { gated, reached, open } = gatedBefore('insert into service.api_keys');
    const first = regenerateKey(gated, wallet);
    await reached;
    const others = Array.from({ length: 7 }, () => regenerateKey(pool, wallet));
    const refused = Promise.allSettled(others);
    await untilWaiting(7);
    open();
    const shown = await first;
    expect([await statusOf(old), await statusOf(shown)]).toEqual(['revoked', 'active']);
    for (const one of await refused) {
      expect(one).toMatchObject({ status: 'rejected', reason: expect.any(KeyReplacedError) });
    }
  });

  it('made by a clock that was set back since can still be replaced', async () => {
    await createKey(pool, wallet);
    await pool.query(`update service.api_keys set created_at = now() + interval '1 hour'`);
    expect(await statusOf(await regenerateKey(pool, wallet))).toBe('active');
  });

  it('leave twenty revoked ones of a wallet, the latest', async () => {
    let last = await createKey(pool, wallet);
    const first = last;
    for (let made = 0; made < 21; made += 1) {
      const next = await regenerateKey(pool, wallet);
      expect(await statusOf(last)).toBe('revoked');
      last = next;
    }
    expect(await statusOf(first)).toBeUndefined();
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(21);
  });
});

describe('a suspended wallet', () => {
  const refusesNewKeys = async () => {
    for (const make of [createKey, regenerateKey]) {
      await expect(make(pool, wallet)).rejects.toThrow(WalletSuspendedError);
    }
  };

  it('gets no key until it is reinstated, also after revoking its own', async () => {
    const key = await createKey(pool, wallet);
    await suspendWallet(pool, wallet, 'spam');
    expect(await statusOf(key)).toBe('suspended');
    await refusesNewKeys();
    await revokeKey(pool, wallet);
    await refusesNewKeys();
    expect(await listKeys(pool, { status: 'suspended' })).toMatchObject([
      { wallet, created_at: null, suspended_by: 'operator', suspension_reason: 'spam' },
    ]);
    await reinstateWallet(pool, wallet);
    expect(await statusOf(await createKey(pool, wallet))).toBe('active');
  });

  it('need never have had a key, and is suspended once', async () => {
    await suspendWallet(pool, wallet);
    await expect(suspendWallet(pool, wallet)).rejects.toThrow(SuspensionStateError);
    await refusesNewKeys();
    await reinstateWallet(pool, wallet);
    await expect(reinstateWallet(pool, wallet)).rejects.toThrow(SuspensionStateError);
  });

  it('has its key back as it was when it is reinstated', async () => {
    const key = await createKey(pool, wallet);
    await suspendWallet(pool, wallet);
    await reinstateWallet(pool, wallet);
    expect(await statusOf(key)).toBe('active');
  });

  it('is refused whichever key it had when both began at once', async () => {
    const { gated, reached, open } = gatedBefore('insert into service.api_keys');
    const creating = createKey(gated, wallet);
    await reached;
    // As the indexer does, which waits for no wallet.
    await pool.query(
      `insert into service.key_suspensions (wallet, suspended_by, reason)
       values ($1, 'indexer', 'unpaid_endings (9)')`,
      [wallet],
    );
    open();
    expect(await statusOf(await creating)).toBe('suspended');
  });
});
