import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Architecture } from './compile.ts';
import { architectures } from './compile.ts';

export const checkout = join(import.meta.dirname, '../../..');
const folder = join(checkout, 'programs/escrow/artifacts');

export const lockPath = join(checkout, 'programs/escrow/toolchain.lock');
/** In the form of `sha256sum`. */
export const hashesPath = join(folder, 'sha256.txt');
export const artifactPath = (architecture: Architecture): string =>
  join(folder, `escrow-${architecture}.so`);

/** The text of sha256.txt for the artifacts as they lie in the folder. */
export const hashArtifacts = (): string =>
  architectures
    .map((architecture) => {
      const hash = createHash('sha256').update(readFileSync(artifactPath(architecture)));
      return `${hash.digest('hex')}  escrow-${architecture}.so\n`;
    })
    .join('');
