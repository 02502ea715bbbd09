import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Keypair } from '@solana/web3.js';
import { writeNewKey } from '../../common/keys/keyFile.ts';
import { parseKeypair } from '../../common/ledgerSettings.ts';
import { SetupError } from './setupError.ts';

/** Where a worker's keys and settings lie. */
interface WorkerFolder {
  readonly path: string;
  /** The path of the key that signs proofs. */
  readonly proofKeyPath: string;
  /** The path of the settings of `svc worker run`. */
  readonly settingsPath: string;
}

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

export function folderAt(path: string): WorkerFolder {
  const folder = resolve(path);
  return {
    path: folder,
    proofKeyPath: join(folder, 'proof-key.json'),
    settingsPath: join(folder, 'worker.env'),
  };
}

/** The key that registers and stakes, and the key that signs proofs. */
export interface WorkerKeys {
  readonly authority: Keypair;
  readonly proofKey: Keypair;
}

const authorityPath = ({ path }: WorkerFolder): string => join(path, 'authority.json');

/** Reads both keys, and makes those that are not there yet. */
export function openKeys(folder: WorkerFolder): WorkerKeys {
  mkdirSync(folder.path, { recursive: true, mode: PRIVATE_FOLDER });
  for (const path of [authorityPath(folder), folder.proofKeyPath]) {
    if (existsSync(path)) continue;
    // It fails where somebody else makes the file at the same time.
    writeNewKey(path);
  }
  return readKeys(folder);
}

/** @throws SetupError when a key is missing, or others can read it */
export function readKeys(folder: WorkerFolder): WorkerKeys {
  return {
    authority: readKey(authorityPath(folder)),
    proofKey: readKey(folder.proofKeyPath),
  };
}

function readKey(path: string): Keypair {
  if (!existsSync(path)) throw new SetupError(`${path} is missing. Make it with svc worker init.`);
  try {
    return parseKeypair(path);
  } catch (error) {
    throw new SetupError(`${path} ${(error as Error).message}.`);
  }
}

/** The settings of `svc worker run`; none before the first `svc worker init`. */
export function readSettings({ settingsPath }: WorkerFolder): NodeJS.Dict<string> {
  return existsSync(settingsPath) ? parseEnv(readFileSync(settingsPath, 'utf8')) : {};
}

/** Writes the settings as lines that a shell, systemd and container runtimes read, too. */
export function writeSettings(
  { settingsPath }: WorkerFolder,
  settings: Readonly<Record<string, string>>,
): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(settingsPath, lines.join(''), { mode: PRIVATE });
  // The mode counts only for a new file.
  chmodSync(settingsPath, PRIVATE);
}

/** @throws SetupError when `svc worker init` has not written them */
export function requireSettings(folder: WorkerFolder): NodeJS.Dict<string> {
  if (existsSync(folder.settingsPath)) return readSettings(folder);
  throw new SetupError(`${folder.settingsPath} is missing. Make it with svc worker init.`);
}
