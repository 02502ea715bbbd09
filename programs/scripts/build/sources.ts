import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hashFile, programs } from './artifacts.ts';

/** Where the build records what it has built from, in the form of `sha256sum`. */
export const sourceHashesPath = (checkout: string): string =>
  join(checkout, 'programs/sources.sha256');

/** Whatever a change of may change an artifact, besides the options that compile.ts gives. */
const SOURCES = [
  'Cargo.lock',
  'Cargo.toml',
  'programs/.cargo/config.toml',
  'programs/escrow/toolchain.lock',
  'programs/sbpf-solana.json',
  ...programs.flatMap((program) => [`programs/${program}/Cargo.toml`, `programs/${program}/src/`]),
];

function listSources(checkout: string): string[] {
  return SOURCES.flatMap((source) =>
    source.endsWith('/')
      ? readdirSync(join(checkout, source), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => relative(checkout, join(parentPath, name)))
      : [source],
  ).sort();
}

/** @returns the text of sources.sha256 for the sources as they lie in the folder */
export const hashSources = (checkout: string): string =>
  listSources(checkout)
    .map((path) => hashFile(join(checkout, path), path))
    .join('');

/** @returns the paths of sources that are not as they were when the artifacts were built */
export function changedSources(checkout: string): string[] {
  const recorded = linesOf(readFileSync(sourceHashesPath(checkout), 'utf8'));
  const present = linesOf(hashSources(checkout));
  const different = [
    ...recorded.filter((line) => !present.includes(line)),
    ...present.filter((line) => !recorded.includes(line)),
  ];
  return [...new Set(different.map((line) => line.slice(line.indexOf('  ') + 2)))].sort();
}

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);
