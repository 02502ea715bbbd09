import { writeFileSync } from 'node:fs';
import { Keypair } from '@solana/web3.js';

/**
 * Writes a new key, as Solana's tools do, to a file that its owner alone can read.
 *
 * @param key by default any
 * @throws NodeJS.ErrnoException `EEXIST` where there is a file already: a key is never overwritten
 */
export function writeNewKey(path: string, key: Keypair = Keypair.generate()): Keypair {
  writeFileSync(path, JSON.stringify([...key.secretKey]), { mode: 0o600, flag: 'wx' });
  return key;
}
