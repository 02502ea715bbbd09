import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const checkout = join(import.meta.dirname, '../..');

/** The product, and the program that attacks it in tests. */
export const programs = ['escrow', 'hostile'] as const;
export type Program = (typeof programs)[number];

/** solana-bankrun runs v0 only; LiteSVM, the local ledger and today's clusters run v3. */
export const architectures = ['v0', 'v3'] as const;
export type Architecture = (typeof architectures)[number];

const folder = (program: Program): string => join(checkout, 'programs', program, 'artifacts');

export const lockPath = join(checkout, 'programs/escrow/toolchain.lock');
/** In the form of `sha256sum`. */
export const hashesPath = (program: Program): string => join(folder(program), 'sha256.txt');
export const artifactName = (program: Program, architecture: Architecture): string =>
  `${program}-${architecture}.so`;
export const artifactPath = (program: Program, architecture: Architecture): string =>
  join(folder(program), artifactName(program, architecture));

/** The text of sha256.txt for the artifacts as they lie in the folder. */
export const hashArtifacts = (program: Program): string =>
  architectures
    .map((architecture) =>
      hashFile(artifactPath(program, architecture), artifactName(program, architecture)),
    )
    .join('');

/** A line as `sha256sum` writes it, under that name. */
function hashFile(path: string, name: string): string {
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
  return `${hash}  ${name}\n`;
}

/** Where the build records what it has built from, in the form of `sha256sum`. */
export const sourceHashesPath = (checkout: string): string =>
  join(checkout, 'programs/sources.sha256');

/** All whose change may change an artifact, besides the options that compile.ts gives. */
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
