import { writeFileSync } from 'node:fs';
import { Keypair } from '@solana/web3.js';

/**
 * Makes a key and writes it, as Solana's tools do, to a file that its owner alone can read.
 *
 * @throws NodeJS.ErrnoException `EEXIST` where there is a file already: a key is never overwritten
 */
export function writeNewKey(path: string): Keypair {
  const key = Keypair.generate();
  writeFileSync(path, JSON.stringify([...key.secretKey]), { mode: 0o600, flag: 'wx' });
  return key;
}
