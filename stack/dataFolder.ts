import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { parseKeypair } from '../common/ledgerSettings.ts';
import { writeSecret } from './stackFile.ts';

// SVC_DATA_DIR holds the database, the ledger, and the keys that the next start needs for them.

/** The path of the database's data. */
export const databaseIn = (folder: string): string => join(folder, 'postgres');

/** The path of the local ledger. */
export const ledgerIn = (folder: string): string => join(folder, 'ledger');

/** The path of the API key of the stack's own wallet. */
export const keyIn = (folder: string): string => join(folder, 'api-key');

/**
 * The authority key of this folder's ledger, created at the first start. All other keys, such as the
 * wallet's and the Gateway's, are derived from it.
 *
 * @throws Error when the file holds no key
 */
export async function loadAuthority(folder: string): Promise<Keypair> {
  const path = join(folder, 'authority.json');
  if (existsSync(path)) return parseKeypair(path);
  const authority = Keypair.generate();
  await writeSecret(path, JSON.stringify([...authority.secretKey]));
  return authority;
}
