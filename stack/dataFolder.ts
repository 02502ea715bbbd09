import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { parseKeypair } from '../common/ledgerSettings.ts';
import { StackError } from './config.ts';
import { writeSecret } from './stackFile.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  EEXIST: ', since a file is in its place: move that away',
  ENOTDIR: ', since a file is in its place: move that away',
  EACCES: ' by this user: chown it',
  EROFS: ': its file system is read-only',
};

/**
 * Makes a folder that this process writes to, unless it is there.
 *
 * @param name its name for the user, such as that of its setting
 * @throws StackError when it cannot be made or written to
 */
export async function openFolder(
  name: string,
  folder: string,
  mode: number = 0o777,
): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const why = REMEDIES[code] ?? '';
    throw new StackError(`${name}: the folder ${folder} cannot be written to (${code})${why}.`, {
      cause: error,
    });
  }
}

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
 * @throws StackError when the file holds no key
 */
export async function loadAuthority(folder: string): Promise<Keypair> {
  const path = join(folder, 'authority.json');
  if (existsSync(path)) return readAuthority(path);
  const authority = Keypair.generate();
  await writeSecret(path, JSON.stringify([...authority.secretKey]));
  return authority;
}

function readAuthority(path: string): Keypair {
  try {
    return parseKeypair(path);
  } catch (error) {
    throw new StackError(
      `SVC_DATA_DIR: ${path} ${(error as Error).message}. Put a copy of it back: without it, ` +
        'nothing in this folder can be used.',
      { cause: error },
    );
  }
}
