import { createKey, KeyExistsError, regenerateKey } from '../api/services/keys.ts';
import { createPool } from '../runtime/postgres.ts';
import { StackError } from './errors.ts';

/**
 * Makes an API key for the stack's wallet.
 *
 * @param isOwnWallet whether nobody but the stack uses that wallet: then a key of an earlier start,
 *   which is lost, is replaced
 * @throws StackError when the wallet has a key that only its owner knows
 */
export async function makeKey(input: {
  databaseUrl: string;
  wallet: string;
  isOwnWallet: boolean;
}): Promise<string> {
  const { databaseUrl, wallet, isOwnWallet } = input;
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    return await createKey(pool, wallet);
  } catch (error) {
    if (!(error instanceof KeyExistsError)) throw error;
    if (isOwnWallet) return await regenerateKey(pool, wallet);
    throw new StackError(`${error.message} Name it by SVC_API_KEY.`);
  } finally {
    await pool.end();
  }
}
