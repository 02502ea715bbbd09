import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createKey, revokeKey } from '../../api/account/keys.ts';
import { suspendWallet, WalletSuspendedError } from '../../api/account/suspensions.ts';
import { setThreshold } from '../../api/sql/settings.ts';
import { createLogger } from '../../common/logger.ts';
import { deleteOldKeys } from '../../indexer/background/expiredRows.ts';
import { startBackgroundJobs } from '../../indexer/background/jobs.ts';
import { ownMirror } from '../../testing/indexer/own.ts';
import { until } from '../../testing/until.ts';
import { insertAccount } from '../api/keyedDatabase.ts';

const FREE = 'a wallet without an account';
const PAYING = 'a wallet with an account';
const mirror = await ownMirror();
const { pool } = mirror;

beforeEach(async () => {
  await pool.query(
    'truncate service.api_keys, service.key_suspensions, service.credit_alerts, mirror.credit_accounts',
  );
  await insertAccount(pool, { wallet: PAYING });
  for (const wallet of [FREE, PAYING]) {
    await createKey(pool, wallet);
    await setThreshold(pool, wallet, 50);
  }
});

/** As if so much time had passed, in which the work ran or did not. */
async function pass(age: string): Promise<void> {
  for (const table of ['api_keys', 'credit_alerts']) {
    await pool.query(
      `update service.${table} set without_account_since = without_account_since - $1::interval`,
      [age],
    );
  }
  await pool.query('update service.api_keys set revoked_at = revoked_at - $1::interval', [age]);
}

async function walletsIn(table: string): Promise<string[]> {
  const { rows } = await pool.query(`select wallet from service.${table} order by wallet`);
  return rows.map(({ wallet }) => wallet);
}

const kept = async () => [await walletsIn('api_keys'), await walletsIn('credit_alerts')];
const BOTH = [PAYING, FREE];

describe('what a wallet leaves', () => {
  it('is deleted after 30 days in which it opened no account', async () => {
    await pass('29 days');
    await deleteOldKeys(pool);
    expect(await kept()).toEqual([BOTH, BOTH]);
    await pass('2 days');
    await deleteOldKeys(pool);
    expect(await kept()).toEqual([[PAYING], [PAYING]]);
  });

  it('stays for good once it had an account, also while the mirror is empty', async () => {
    await deleteOldKeys(pool);
    await pool.query('truncate mirror.credit_accounts');
    await pass('31 days');
    await deleteOldKeys(pool);
    expect(await kept()).toEqual([[PAYING], [PAYING]]);
  });

  it('is, of a revoked key, 90 days more', async () => {
    await revokeKey(pool, PAYING);
    await pass('29 days');
    await deleteOldKeys(pool);
    await pass('60 days');
    await deleteOldKeys(pool);
    expect(await walletsIn('api_keys')).toEqual([PAYING]);
    await pass('2 days');
    await deleteOldKeys(pool);
    expect(await walletsIn('api_keys')).toEqual([]);
  });

  it('does not take its suspension along', async () => {
    await suspendWallet(pool, FREE);
    await pass('31 days');
    await deleteOldKeys(pool);
    expect(await walletsIn('api_keys')).toEqual([PAYING]);
    await expect(createKey(pool, FREE)).rejects.toThrow(WalletSuspendedError);
  });
});

describe('background jobs', () => {
  const started: { close(): Promise<void> }[] = [];

  afterAll(async () => {
    for (const jobs of started) await jobs.close();
  });

  it('delete once a minute what has expired, however many processes run them', async () => {
    const logger = createLogger({ name: 'test', level: 'silent' });
    const { databaseUrl } = mirror;
    for (const _process of ['one', 'another']) {
      started.push(await startBackgroundJobs({ pool, databaseUrl, logger, pollSeconds: 0.5 }));
    }
    const schedule = await pool.query('select name, cron from pgboss.schedule order by name');
    const works = ['deliveries', 'keys', 'measurements', 'requests', 'sessions'];
    expect(schedule.rows).toEqual(
      works.map((rows) => ({ name: `delete-old-${rows}`, cron: '* * * * *' })),
    );
    await pool.query(
      `insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
       values ('a wallet', 'old', '', 'a job', now()),
         ('a wallet', 'new', '', 'a job', now() + interval '1 day')`,
    );
    // What the schedule does when its minute comes.
    await pool.query(`insert into pgboss.job (name) values ('delete-old-requests')`);
    await until(async () => {
      const { rowCount } = await pool.query('select from service.idempotent_requests');
      return rowCount === 1;
    });
  });
});
