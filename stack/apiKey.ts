import { existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { createKey, KeyExistsError, regenerateKey } from '../api/account/keys.ts';
import { WalletSuspendedError } from '../api/account/suspensions.ts';
import { hashKey, selectKeysAndAccounts } from '../api/sql/accounts.ts';
import { createPool } from '../common/postgres.ts';
import { StackError } from './config.ts';
import { writeSecret } from './stackFile.ts';

/**
 * Returns the stored API key of the stack's wallet, or makes a new one.
 *
 * @param isOwnWallet whether only the stack uses that wallet: then a lost key of an earlier start is
 *   replaced
 * @param keyPath the path that keeps the key for the next start, if any
 * @throws StackError when the wallet has a key that is not stored here, or is suspended
 */
export async function ensureKey(input: {
  databaseUrl: string;
  wallet: string;
  isOwnWallet: boolean;
  keyPath: string | undefined;
}): Promise<string> {
  const { databaseUrl, wallet, isOwnWallet, keyPath } = input;
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    const stored =
      keyPath && existsSync(keyPath) ? readFileSync(keyPath, 'utf8').trim() : undefined;
    if (stored !== undefined && (await isLive(pool, wallet, stored))) return stored;
    const key = await makeNewKey(pool, wallet, isOwnWallet);
    if (keyPath) await writeSecret(keyPath, `${key}\n`);
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
    if (error instanceof WalletSuspendedError) throw new StackError(error.message);
    if (!(error instanceof KeyExistsError)) throw error;
    if (isOwnWallet) return await regenerateKey(pool, wallet);
    throw new StackError(`${error.message} Set SVC_API_KEY to it.`);
  }
}
