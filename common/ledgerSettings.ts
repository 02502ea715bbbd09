import { readFileSync, statSync } from 'node:fs';
import { Keypair, PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { decodeBase58 } from '../programs/client/keys.ts';

/** An address on the ledger, in base58. */
export const addressSetting = z.string().transform((text, context) => {
  try {
    return new PublicKey(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not a ledger address' });
    return z.NEVER;
  }
});

/**
 * Reads a secret key as operators keep them: base58 text, a JSON array of 64 bytes, or the path of
 * a file holding such an array (the format of `solana-keygen`).
 *
 * @throws Error without any part of the key in its message
 */
export function parseKeypair(text: string): Keypair {
  const source = text.trim();
  try {
    if (/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(source))
      return Keypair.fromSecretKey(decodeBase58(source));
    const json = source.startsWith('[') ? source : readFileSync(source, 'utf8');
    return Keypair.fromSecretKey(
      Uint8Array.from(z.array(z.number()).length(64).parse(JSON.parse(json))),
    );
  } catch {
    // The cause may quote the key, so it is not attached.
    throw new Error(
      'must be a secret key: base58, a JSON array of 64 bytes, or the path of such a file',
    );
  }
}

/** One secret key in the environment. */
export const keypairSetting = z.string().transform(readKeypair(parseKeypair));

function readKeypair(parse: (text: string) => Keypair) {
  return (text: string, context: z.RefinementCtx): Keypair => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  };
}

const OTHERS_MAY_READ = 0o044;

/**
 * Reads a key as `parseKeypair` does, but no file that others can read.
 *
 * @throws Error without any part of the key in its message
 */
function parsePrivateKeypair(text: string): Keypair {
  const keypair = parseKeypair(text);
  const source = text.trim();
  // The text of a key can be too long for a path.
  if (source.startsWith('[')) return keypair;
  const { mode = 0 } = statSync(source, { throwIfNoEntry: false }) ?? {};
  if ((mode & OTHERS_MAY_READ) === 0 || process.platform === 'win32') return keypair;
  throw new Error('must be a file that only its owner can read: chmod 600');
}

/** One secret key in the environment; a file of it is its owner's alone. */
export const privateKeypairSetting = z.string().transform(readKeypair(parsePrivateKeypair));

const listSetting = z.string().transform((text) => text.split(',').map((part) => part.trim()));

/** Several addresses, separated by commas. */
export const addressListSetting = listSetting.pipe(z.array(addressSetting).min(1));

/** Several base58 keys or paths, separated by commas. */
export const keypairListSetting = listSetting.pipe(z.array(keypairSetting).min(1));
