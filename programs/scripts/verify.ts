/**
 * Proves that the committed artifacts are what the source builds: rebuilds them and compares byte
 * for byte. Without the locked toolchain it can only check that they are the recorded ones.
 */
import { readFileSync } from 'node:fs';
import { artifactPath, checkout, hashArtifacts, hashesPath, lockPath } from './build/artifacts.ts';
import { architectures, compile } from './build/compile.ts';
import { findLockedToolchain } from './build/toolchain.ts';

if (readFileSync(hashesPath, 'utf8') !== hashArtifacts()) {
  throw new Error('The artifacts are not the ones that artifacts/sha256.txt records');
}

const toolchain = findLockedToolchain(lockPath, process.env);
if ('missing' in toolchain) {
  console.log(`Checked the artifacts' recorded hashes, not rebuilt: ${toolchain.missing}`);
} else {
  for (const architecture of architectures) {
    const rebuilt = compile(toolchain, checkout, architecture);
    if (!readFileSync(artifactPath(architecture)).equals(rebuilt)) {
      throw new Error(`escrow-${architecture}.so is not what the source builds`);
    }
  }
  console.log('Rebuilt both artifacts: byte for byte the committed ones');
}
