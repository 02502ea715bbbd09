import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from './pinnedNode.mjs';

const CACHE = join(root, 'node_modules/.cache');
const DIGEST = '.sources';
/** Built, installed, or Rust's. */
const NO_SOURCES = new Set(['dist', 'node_modules', 'target']);
const POLL_MS = 100;

/**
 * Makes a folder out of sources, unless it was made of the same ones. It stays whole for its readers
 * until the new one takes its place. Of several processes one builds, and the others wait for it.
 *
 * @param {object} options
 * @param {string} options.built the folder
 * @param {readonly string[]} options.sources folders of the checkout
 * @param {(target: string) => void | Promise<void>} options.build fills an empty folder
 */
export async function makeFolder({ built, sources, build }) {
  const digest = digestOf([...sources, 'package-lock.json']);
  const digestPath = join(built, DIGEST);
  const isUpToDate = () => existsSync(digestPath) && readFileSync(digestPath, 'utf8') === digest;
  const name = relative(root, built).replaceAll(sep, '-');
  const made = join(CACHE, `${name}-${process.pid}`);
  const replaced = `${made}-replaced`;
  const lock = join(CACHE, `${name}.lock`);
  mkdirSync(CACHE, { recursive: true });
  while (!isUpToDate()) {
    if (!takeLock(lock)) {
      await delay(POLL_MS);
      continue;
    }
    try {
      removeLeftovers(name);
      mkdirSync(made);
      await build(made);
      writeFileSync(join(made, DIGEST), digest);
      mkdirSync(dirname(built), { recursive: true });
      if (existsSync(built)) renameSync(built, replaced);
      renameSync(made, built);
    } finally {
      for (const path of [made, replaced, lock]) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** @returns whether this process has it now; one of a process that was killed is removed */
function takeLock(path) {
  try {
    writeFileSync(path, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true });
  return false;
}

/** Files that killed builds have left. */
function removeLeftovers(name) {
  for (const entry of readdirSync(CACHE)) {
    if (!entry.startsWith(`${name}-`)) continue;
    const builder = Number.parseInt(entry.slice(name.length + 1), 10);
    if (!isAlive(builder)) rmSync(join(CACHE, entry), { recursive: true, force: true });
  }
}

function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A digest of every file's name and content. */
function digestOf(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const names = readNames(join(root, path));
    if (!names)
      hash
        .update(path)
        .update('\0')
        .update(readFileSync(join(root, path)))
        .update('\0');
    for (const name of names ?? []) if (!NO_SOURCES.has(name)) visit(join(path, name));
  };
  for (const path of [...paths].sort()) visit(path);
  return hash.digest('hex');
}

/** What a folder holds, sorted; undefined for a file. */
function readNames(path) {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
