import { readFileSync, statSync } from 'node:fs';
import { base58 } from '@scure/base';
import { Keypair, PublicKey } from '@solana/web3.js';
import { z } from 'zod';

import type { KeyHolder } from '../programs/client/proof.ts';
import { openPkcs11Signer } from './keys/pkcs11.ts';

/** An address on the ledger, in base58. */
export const addressSetting = z.string().transform((text, context) => {
  try {
    return new PublicKey(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not a ledger address' });
    return z.NEVER;
  }
});

/** How sure the ledger has to be of what a process acts on. */
export const commitmentSetting = z
  .enum(['confirmed', 'finalized'])
  .optional()
  .describe(
    'confirmed or finalized: from when on the ledger is believed; default: finalized on a ledger with Alpenglow, else confirmed',
  );

/** The version of the transactions that a process sends. */
export const transactionVersionSetting = z
  .enum(['auto', 'legacy', '1'])
  .transform((version) => (version === '1' ? 1 : version))
  .default('auto')
  .describe(
    'auto, legacy or 1: the version of the transactions that are sent; auto: 1, which carries three times as much, where the node takes it',
  );

const BASE58_KEY = /^[1-9A-HJ-NP-Za-km-z]{80,90}$/;
const KEY_NUMBERS = 64;
const NOT_OWNER = 0o077;

/**
 * Reads a secret key: base58 text, a JSON array of 64 bytes as `solana-keygen` writes it, or the
 * path of a file with either. Only its owner may read the file, except on Windows, whose files have
 * no such mode.
 *
 * @throws Error without any part of the key in its message
 */
export function parseKeypair(text: string): Keypair {
  const source = text.trim();
  const isPath = !source.startsWith('[') && !BASE58_KEY.test(source);
  const keypair = toKeypair(isPath ? readKeyFile(source) : source);
  if (!isPath || process.platform === 'win32') return keypair;
  if ((statSync(source).mode & NOT_OWNER) === 0) return keypair;
  throw new Error('must be a file that only its owner can read: chmod 600');
}

/** Errors leave out the path, which may be a mistyped key. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT:
    'must be a secret key or the path of its file: there is no such file (svc keygen makes one)',
  EISDIR: 'must be the path of a key file: this one is a folder',
  EACCES: 'must be a key file that this user can read: chown it',
};

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(UNREADABLE[(error as NodeJS.ErrnoException).code ?? ''] ?? NO_KEY);
  }
}

const NO_KEY = 'must be a secret key: base58, a JSON array of 64 bytes, or the path of such a file';

function toKeypair(text: string): Keypair {
  let numbers: unknown;
  try {
    if (BASE58_KEY.test(text)) return Keypair.fromSecretKey(base58.decode(text));
    numbers = JSON.parse(text);
    const { length } = z.array(z.number()).parse(numbers);
    if (length === KEY_NUMBERS) return Keypair.fromSecretKey(Uint8Array.from(numbers as number[]));
  } catch {
    // The cause may quote the key, so it is not attached.
    throw new Error(NO_KEY);
  }
  const { length } = numbers as number[];
  throw new Error(
    `must be a secret key: a JSON array of ${KEY_NUMBERS} bytes, and this has ${length}`,
  );
}

/** One secret key in the environment. */
export const keypairSetting = z.string().transform(readKey(parseKeypair));

function readKey<Key>(parse: (text: string) => Key) {
  return (text: string, context: z.RefinementCtx): Key => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  };
}

const PKCS11 = /^pkcs11:/;

/** A key that signs for a process: a secret key, or the URI of one in a module. */
export const signerSetting = z
  .string()
  .transform(
    readKey(
      (text: string): KeyHolder =>
        PKCS11.test(text.trim()) ? openPkcs11Signer(text.trim()) : parseKeypair(text),
    ),
  );

const listSetting = z.string().transform((text) => text.split(',').map((part) => part.trim()));

/** Several addresses, separated by commas. */
export const addressListSetting = listSetting.pipe(z.array(addressSetting).min(1));

/** Several signers, separated by commas. */
export const signerListSetting = listSetting.pipe(z.array(signerSetting).min(1));
