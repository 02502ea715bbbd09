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
import { type Compilation, compile, findLockedToolchain, type Toolchain } from './compile.ts';
import { requireUsableProgramId } from './programId.ts';

/**
 * Builds the programs with the locked toolchain.
 *
 * Without arguments it writes all committed artifacts and records their hashes, and those of their
 * sources. With `--out <folder>` it only builds the escrow into that folder. `--program-id <base58>`
 * makes it for another address, since each cluster can have its own; `--sha512-syscall` makes it for
 * ledgers that hash SHA-512 themselves.
 */

const { values } = parseArgs({
  options: {
    'program-id': { type: 'string' },
    'sha512-syscall': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const { 'program-id': programId, 'sha512-syscall': hasSha512Syscall, out } = values;
if ((programId !== undefined || hasSha512Syscall) !== (out !== undefined)) {
  throw new Error(
    '--out goes with --program-id or --sha512-syscall: other artifacts than the published ones',
  );
}
if (programId !== undefined) requireUsableProgramId(programId);

const toolchain = findLockedToolchain(lockPath, process.env);
if ('missing' in toolchain) throw new Error(`Cannot build the artifacts: ${toolchain.missing}`);
if (out === undefined) buildPublished(toolchain);
else buildInto(out, toolchain, { programId, hasSha512Syscall });

type Choice = Pick<Compilation, 'programId' | 'hasSha512Syscall'>;

function build(
  toolchain: Toolchain,
  built: readonly Program[],
  pathOf: typeof artifactPath,
  choice: Choice = {},
): void {
  for (const architecture of architectures) {
    console.log(`Building ${built.join(' and ')} for sBPF ${architecture}`);
    const options = { checkout, architecture, programs: built, environment: process.env };
    for (const [program, artifact] of compile(toolchain, { ...options, ...choice })) {
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

function buildInto(out: string, toolchain: Toolchain, choice: Choice): void {
  mkdirSync(out, { recursive: true });
  const pathOf: typeof artifactPath = (program, architecture) =>
    join(out, artifactName(program, architecture));
  build(toolchain, ['escrow'], pathOf, choice);
}
