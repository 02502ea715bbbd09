import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { parseKeypair } from '../runtime/keypair.ts';
import { keepSecret } from './keepSecret.ts';

// What SVC_DATA_DIR holds: the database, and the keys without which what is in it would make no
// sense at the next start. The embedded ledger itself keeps nothing.

/** Where the database's data lies. */
export const databaseIn = (folder: string): string => join(folder, 'postgres');

/** Where the API key of the stack's own wallet is. */
export const keyIn = (folder: string): string => join(folder, 'api-key');

/**
 * The key that each embedded ledger of this folder begins with: all others, the wallet's and the
 * Gateway's among them, follow from it. Made at the first start.
 *
 * @throws Error when the file holds no key
 */
export async function keepAuthority(folder: string): Promise<Keypair> {
  const path = join(folder, 'authority.json');
  if (existsSync(path)) return parseKeypair(path);
  const authority = Keypair.generate();
  await keepSecret(path, JSON.stringify([...authority.secretKey]));
  return authority;
}
