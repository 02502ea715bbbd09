/** Builds both artifacts of the program with the locked toolchain and records their hashes. */
import { writeFileSync } from 'node:fs';
import { artifactPath, checkout, hashArtifacts, hashesPath, lockPath } from './build/artifacts.ts';
import { architectures, compile } from './build/compile.ts';
import { findLockedToolchain } from './build/toolchain.ts';

const toolchain = findLockedToolchain(lockPath, process.env);
if ('missing' in toolchain) throw new Error(`Cannot build the artifacts: ${toolchain.missing}`);
for (const architecture of architectures) {
  const artifact = compile(toolchain, checkout, architecture);
  writeFileSync(artifactPath(architecture), artifact);
  console.log(`Built escrow-${architecture}.so, ${artifact.length} bytes`);
}
writeFileSync(hashesPath, hashArtifacts());
