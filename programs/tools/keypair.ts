import { writeNewKey } from '../../common/keys/keyFile.ts';
import { drawProgramKey } from './programId.ts';

/**
 * Makes a key for a program of one's own and prints its id, which `npm run program:build` then
 * builds for: `npm run program:keypair -- <file>`. The file is in the form of Solana's tools and
 * readable by its owner alone; one that exists is left as it is, and the script fails.
 */

const [path, ...others] = process.argv.slice(2);
if (path === undefined || others.length > 0) throw new Error('Name one file for the key');
console.log(writeNewKey(path, drawProgramKey()).publicKey.toBase58());
