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
import { join, relative, sep } from 'node:path';
import { root } from './pinnedNode.mjs';

const DIGEST = '.sources';
/** Built, installed, or Rust's. */
const NO_SOURCES = new Set(['dist', 'node_modules', 'target']);

/**
 * Makes a folder out of sources, unless it was made of the same ones. It stays whole for its readers
 * until the new one takes its place.
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
  if (isUpToDate()) return;
  const cache = join(root, 'node_modules/.cache');
  const made = join(cache, `${relative(root, built).replaceAll(sep, '-')}-${process.pid}`);
  const replaced = `${made}-replaced`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  await build(made);
  writeFileSync(join(made, DIGEST), digest);
  // Another process may have made the same one, and has readers already.
  if (!isUpToDate()) {
    if (existsSync(built)) renameSync(built, replaced);
    mkdirSync(join(built, '..'), { recursive: true });
    renameSync(made, built);
  }
  for (const folder of [made, replaced]) rmSync(folder, { recursive: true, force: true });
}

/** Of every file's name and content. */
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
