import type pg from 'pg';
import { createKey, KeyExistsError, regenerateKey } from '../api/services/keys.ts';
import { StackError } from './errors.ts';

/**
 * Makes an API key for the stack's wallet.
 *
 * @param isOwnWallet whether nobody but the stack uses that wallet: then a key of an earlier start,
 *   which is lost, is replaced
 * @throws StackError when the wallet has a key that only its owner knows
 */
export async function makeKey(
  pool: pg.Pool,
  { wallet, isOwnWallet }: { wallet: string; isOwnWallet: boolean },
): Promise<string> {
  try {
    return await createKey(pool, wallet);
  } catch (error) {
    if (!(error instanceof KeyExistsError)) throw error;
    if (isOwnWallet) return regenerateKey(pool, wallet);
    throw new StackError(`${error.message} Name it by SVC_API_KEY.`);
  }
}
