import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Architecture, Program } from './artifacts.ts';
import { findCodegenErrors } from './diagnostics.ts';
import type { Toolchain } from './toolchain.ts';

/** What is compiled, and where. */
export interface Compilation {
  /** The folder that holds Cargo.toml and programs/ */
  checkout: string;
  architecture: Architecture;
  programs: readonly Program[];
  /** The escrow's address, where it is not the published one. */
  programId?: string | undefined;
  environment: NodeJS.ProcessEnv;
}

const rustFlags = ({ architecture, checkout, environment }: Compilation): string[] => [
  '-Cpanic=abort',
  '-Crelocation-model=static',
  // The virtual machine reads and writes at any alignment.
  '-Ctarget-feature=+allows-misaligned-mem-access',
  `-Clink-arg=--arch=${architecture}`,
  '-Clink-arg=--llvm-args=--bpf-stack-size=4096',
  '-Clink-arg=--fatal-errors=false',
  // diagnostics.ts reads what the linker says.
  '-Wlinker-messages',
  // No path of the building machine may be left in the artifact.
  '-Zlocation-detail=none',
  `--remap-path-prefix=${checkout}=/checkout`,
  `--remap-path-prefix=${environment.CARGO_HOME ?? join(homedir(), '.cargo')}=/cargo`,
  '--remap-path-prefix=/usr/lib/rustlib/src/rust=/rust',
  '--remap-path-prefix=/usr/src=/rust',
];

/**
 * Compiles programs in a folder of its own.
 *
 * @returns each program's artifact
 * @throws when the compiler fails or the code generator reports an error that is one
 */
export const compile = (
  toolchain: Toolchain,
  compilation: Compilation,
): Map<Program, Uint8Array> => {
  const { checkout, programs, programId, environment } = compilation;
  const folder = mkdtempSync(join(tmpdir(), 'escrow-build-'));
  try {
    // The linker opens the first libLLVM* of its library path, so the folder holds only that one.
    symlinkSync(toolchain.llvm, join(folder, basename(toolchain.llvm)));
    const target = join(folder, 'target');
    const packages = programs.flatMap((program) => ['--package', program]);
    const result = spawnSync(toolchain.cargo, ['build', '--release', '--locked', ...packages], {
      // Where cargo finds .cargo/config.toml with the target.
      cwd: join(checkout, 'programs'),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: {
        ...environment,
        // Undefined leaves it out, whatever this process was given.
        ESCROW_PROGRAM_ID: programId,
        RUSTC: toolchain.rustc,
        // The custom target needs features that a release compiler hides.
        RUSTC_BOOTSTRAP: '1',
        LD_LIBRARY_PATH: folder,
        CARGO_TARGET_DIR: target,
        CARGO_TARGET_SBPF_SOLANA_LINKER: toolchain.linker,
        CARGO_ENCODED_RUSTFLAGS: rustFlags(compilation).join('\x1f'),
      },
    });
    if (result.error !== undefined) throw result.error;
    if (result.status !== 0) throw new Error(`cargo failed:\n${result.stderr}`);
    const errors = findCodegenErrors(result.stderr);
    if (errors.length > 0) throw new Error(`the code generator failed:\n${errors.join('\n')}`);
    const release = join(target, 'sbpf-solana/release');
    return new Map(
      programs.map((program) => [program, readFileSync(join(release, `lib${program}.so`))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
