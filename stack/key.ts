import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { createKey, hashKey, KeyExistsError, regenerateKey } from '../api/account/keys.ts';
import { selectKeysAndAccounts } from '../api/sql/accounts.ts';
import { createPool } from '../common/postgres.ts';
import { StackError } from './config.ts';
import { keepSecret } from './stackFile.ts';

/**
 * Makes an API key for the stack's wallet, or finds the one that was kept.
 *
 * @param isOwnWallet whether nobody but the stack uses that wallet: then a key of an earlier start,
 *   which is lost, is replaced
 * @param keyPath where the key is kept for the next start, if anywhere
 * @throws StackError when the wallet has a key that only its owner knows
 */
export async function makeKey(input: {
  databaseUrl: string;
  wallet: string;
  isOwnWallet: boolean;
  keyPath: string | undefined;
}): Promise<string> {
  const { databaseUrl, wallet, isOwnWallet, keyPath } = input;
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    const kept = keyPath && existsSync(keyPath) ? readFileSync(keyPath, 'utf8').trim() : undefined;
    if (kept !== undefined && (await isLive(pool, wallet, kept))) return kept;
    const key = await makeNewKey(pool, wallet, isOwnWallet);
    if (keyPath) await keepSecret(keyPath, `${key}\n`);
    return key;
  } finally {
    await pool.end();
  }
}

async function isLive(pool: pg.Pool, wallet: string, key: string): Promise<boolean> {
  const [found] = await selectKeysAndAccounts(pool, [hashKey(key)]);
  return found?.wallet === wallet && found.status === 'active';
}

async function makeNewKey(pool: pg.Pool, wallet: string, isOwnWallet: boolean): Promise<string> {
  try {
    return await createKey(pool, wallet);
  } catch (error) {
    if (!(error instanceof KeyExistsError)) throw error;
    if (isOwnWallet) return await regenerateKey(pool, wallet);
    throw new StackError(`${error.message} Name it by SVC_API_KEY.`);
  }
}
