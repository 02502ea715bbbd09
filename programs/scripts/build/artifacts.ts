import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const checkout = join(import.meta.dirname, '../../..');

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
export function hashFile(path: string, name: string): string {
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
  return `${hash}  ${name}\n`;
}
