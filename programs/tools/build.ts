import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  architectures,
  artifactName,
  artifactPath,
  checkout,
  hashArtifacts,
  hashesPath,
  hashSources,
  lockPath,
  type Program,
  programs,
  sourceHashesPath,
} from './artifacts.ts';
import { compile, findLockedToolchain, type Toolchain } from './compile.ts';
import { requireUsableProgramId } from './programId.ts';

/**
 * Builds the programs with the locked toolchain.
 *
 * Without arguments it writes all committed artifacts and records their hashes, and those of their
 * sources. With `--program-id <base58> --out <folder>` it only builds the escrow for another address
 * into that folder, since each cluster can have its own.
 */

const { values } = parseArgs({
  options: { 'program-id': { type: 'string' }, out: { type: 'string' } },
});
const { 'program-id': programId, out } = values;
if ((programId === undefined) !== (out === undefined)) {
  throw new Error('--program-id and --out go together: other artifacts than the published ones');
}
if (programId !== undefined) requireUsableProgramId(programId);

const toolchain = findLockedToolchain(lockPath, process.env);
if ('missing' in toolchain) throw new Error(`Cannot build the artifacts: ${toolchain.missing}`);
if (out === undefined) buildPublished(toolchain);
else buildFor(programId, out, toolchain);

function build(
  toolchain: Toolchain,
  built: readonly Program[],
  pathOf: typeof artifactPath,
  programId?: string,
): void {
  for (const architecture of architectures) {
    console.log(`Building ${built.join(' and ')} for sBPF ${architecture}`);
    const options = { checkout, architecture, programs: built, programId };
    for (const [program, artifact] of compile(toolchain, {
      ...options,
      environment: process.env,
    })) {
      const path = pathOf(program, architecture);
      writeFileSync(path, artifact);
      console.log(`Wrote ${path}, ${artifact.length} bytes`);
    }
  }
}

function buildPublished(toolchain: Toolchain): void {
  build(toolchain, programs, artifactPath);
  for (const program of programs) writeFileSync(hashesPath(program), hashArtifacts(program));
  writeFileSync(sourceHashesPath(checkout), hashSources(checkout));
}

function buildFor(programId: string | undefined, out: string, toolchain: Toolchain): void {
  mkdirSync(out, { recursive: true });
  const pathOf: typeof artifactPath = (program, architecture) =>
    join(out, artifactName(program, architecture));
  build(toolchain, ['escrow'], pathOf, programId);
}
