import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  architectures,
  artifactName,
  artifactPath,
  changedSources,
  checkout,
  hashArtifacts,
  hashesPath,
  lockPath,
  programs,
} from './artifacts.ts';
import { type Compilation, compile, findLockedToolchain, type Toolchain } from './compile.ts';
import { drawProgramKey } from './programId.ts';
import { tryOut } from './tryOut.ts';

/**
 * Proves that the committed artifacts are what the source builds. It rebuilds them and compares byte
 * for byte, then builds the escrow for another address and runs that build. It also builds the escrow
 * that hashes by the runtime. Without the locked toolchain it cannot, says what is missing, and ends
 * with exit code 2.
 *
 * With `--hashes-only` it rebuilds nothing. It compares the artifacts, and their sources, with the
 * hashes that the build has recorded.
 */

const CANNOT_REBUILD = 2;

const { values } = parseArgs({ options: { 'hashes-only': { type: 'boolean' } } });

for (const program of programs) {
  if (readFileSync(hashesPath(program), 'utf8') === hashArtifacts(program)) continue;
  throw new Error(`The artifacts of ${program} are not the ones that its sha256.txt records`);
}

const changed = changedSources(checkout);
if (changed.length > 0) {
  throw new Error(`Not what the artifacts were built from: ${changed.join(', ')}`);
}

if (values['hashes-only']) {
  console.log('The artifacts and their sources have the recorded hashes; nothing was rebuilt');
} else {
  const toolchain = findLockedToolchain(lockPath, process.env);
  if ('missing' in toolchain) {
    console.error(`Cannot rebuild the artifacts, so nothing is verified: ${toolchain.missing}`);
    process.exit(CANNOT_REBUILD);
  }
  rebuild(toolchain);
  await buildElsewhere(toolchain);
  buildWithSyscall(toolchain);
}

function rebuild(toolchain: Toolchain): void {
  for (const architecture of architectures) {
    const options = { checkout, architecture, programs, environment: process.env };
    for (const [program, rebuilt] of compile(toolchain, options)) {
      if (readFileSync(artifactPath(program, architecture)).equals(rebuilt)) continue;
      throw new Error(`${artifactName(program, architecture)} is not what the source builds`);
    }
  }
  console.log('Rebuilt all artifacts: byte for byte the committed ones');
}

async function buildElsewhere(toolchain: Toolchain): Promise<void> {
  const programId = drawProgramKey().publicKey;
  const built = buildEscrow(toolchain, { architecture: 'v3', programId: programId.toBase58() });
  await tryOut(built, programId);
  console.log(`Built the escrow for ${programId}, and it runs there`);
}

function buildWithSyscall(toolchain: Toolchain): void {
  const built = buildEscrow(toolchain, { architecture: 'v0', hasSha512Syscall: true });
  if (!Buffer.from(built).includes('sol_sha512'))
    throw new Error('the build with --sha512-syscall does not name sol_sha512');
  console.log('Built the escrow with sol_sha512, which it names');
}

type Choice = Pick<Compilation, 'architecture' | 'programId' | 'hasSha512Syscall'>;

function buildEscrow(toolchain: Toolchain, choice: Choice): Uint8Array {
  const options = { checkout, programs: ['escrow'], environment: process.env, ...choice } as const;
  return compile(toolchain, options).get('escrow') ?? new Uint8Array();
}
