import { writeNewKey } from '../../common/keys/keyFile.ts';
import { drawProgramKey } from './programId.ts';

/**
 * `node programs/tools/keypair.ts <file>`: makes the key of a program of your own and prints its id,
 * for which `npm run program:build` then builds. The file has the form of Solana's tools, and only
 * its owner can read it. A file that exists stays as it is, and the script fails.
 */

const [path, ...others] = process.argv.slice(2);
if (path === undefined || others.length > 0) throw new Error('Name one file for the key');
console.log(writeNewKey(path, drawProgramKey()).publicKey.toBase58());
