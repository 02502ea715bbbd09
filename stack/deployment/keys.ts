import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { writeNewKey } from '../../common/keys/keyFile.ts';
import { parseKeypair } from '../../common/ledgerSettings.ts';
import { drawProgramKey } from '../../programs/tools/programId.ts';
import { StackError } from '../config.ts';
import { openFolder } from '../dataFolder.ts';

/** The keys of a deployment, each in a file of its name: docs/deploying.md says what each does. */
const KEYS = [
  'upgrade-authority',
  'arbiter',
  'gateway-operator',
  'hot-signer',
  'crank',
  'worker-authority',
  'proof-key',
] as const;
/** The further keys of a trial. */
const TRIAL_KEYS = ['credit-mint', 'stake-mint', 'wallet'] as const;

export type DeploymentKeys = Readonly<Record<(typeof KEYS)[number], Keypair>>;
type TrialKeys = Readonly<Record<(typeof TRIAL_KEYS)[number], Keypair>>;

const SECRETS_KEY = 'secrets.key';
const PROGRAM_KEY = 'escrow';
const SECRETS_KEY_BYTES = 32;
const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

export const keyPath = (folder: string, name: string): string => join(folder, `${name}.json`);

/**
 * Reads the keys of a deployment and makes those that are missing, without the program's.
 *
 * @returns the keys, and the names of the new files
 * @throws StackError when the folder cannot be used, or a file in it is no key
 */
export async function openKeys(folder: string): Promise<{ keys: DeploymentKeys; made: string[] }> {
  await openFolder('--dir', folder, PRIVATE_FOLDER);
  const made = KEYS.filter((name) => isMade(folder, name)).map((name) => `${name}.json`);
  const secrets = join(folder, SECRETS_KEY);
  if (!existsSync(secrets)) {
    const text = `${randomBytes(SECRETS_KEY_BYTES).toString('base64')}\n`;
    writeFileSync(secrets, text, { mode: PRIVATE, flag: 'wx' });
    made.push(SECRETS_KEY);
  }
  return { keys: readKeys(folder, KEYS), made };
}

/** The keys of a trial; those that are missing are made. */
export function openTrialKeys(folder: string): TrialKeys {
  for (const name of TRIAL_KEYS) isMade(folder, name);
  return readKeys(folder, TRIAL_KEYS);
}

/** The key of the deployment's own program; made unless it is there. */
export function openProgramKey(folder: string): Keypair {
  if (!hasProgramKey(folder)) writeNewKey(keyPath(folder, PROGRAM_KEY), drawProgramKey());
  return readKey(keyPath(folder, PROGRAM_KEY));
}

export const hasProgramKey = (folder: string): boolean => existsSync(keyPath(folder, PROGRAM_KEY));

/** Makes the key unless it is there. @returns whether it was made */
function isMade(folder: string, name: string): boolean {
  const path = keyPath(folder, name);
  if (existsSync(path)) return false;
  writeNewKey(path);
  return true;
}

function readKeys<Name extends string>(
  folder: string,
  names: readonly Name[],
): Record<Name, Keypair> {
  const keys = names.map((name) => [name, readKey(keyPath(folder, name))] as const);
  return Object.fromEntries(keys) as Record<Name, Keypair>;
}

function readKey(path: string): Keypair {
  try {
    return parseKeypair(path);
  } catch (error) {
    throw new StackError(`${path} ${(error as Error).message}.`, { cause: error });
  }
}
