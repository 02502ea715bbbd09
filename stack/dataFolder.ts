import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { parseKeypair } from '../common/ledgerSettings.ts';
import { keepSecret } from './stackFile.ts';

// What SVC_DATA_DIR holds: the database, the ledger, and the keys without which what is in them would
// make no sense at the next start.

/** Where the database's data lies. */
export const databaseIn = (folder: string): string => join(folder, 'postgres');

/** Where the local ledger lies. */
export const ledgerIn = (folder: string): string => join(folder, 'ledger');

/** Where the API key of the stack's own wallet is. */
export const keyIn = (folder: string): string => join(folder, 'api-key');

/**
 * The key that the ledger of this folder began with: all others, the wallet's and the Gateway's
 * among them, follow from it. Made at the first start.
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
