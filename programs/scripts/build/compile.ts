import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findCodegenErrors } from './diagnostics.ts';
import type { Toolchain } from './toolchain.ts';

/** solana-bankrun runs v0 only; the embedded ledger and today's clusters run v3. */
export const architectures = ['v0', 'v3'] as const;
export type Architecture = (typeof architectures)[number];

const rustFlags = (architecture: Architecture, checkout: string): string[] => [
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
  `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), '.cargo')}=/cargo`,
  '--remap-path-prefix=/usr/lib/rustlib/src/rust=/rust',
  '--remap-path-prefix=/usr/src=/rust',
];

/**
 * Compiles the program in a folder of its own.
 *
 * @param checkout the folder that holds Cargo.toml and programs/
 * @returns the artifact's bytes
 * @throws when the compiler fails or the code generator reports an error that is one
 */
export const compile = (
  toolchain: Toolchain,
  checkout: string,
  architecture: Architecture,
): Uint8Array => {
  const folder = mkdtempSync(join(tmpdir(), 'escrow-build-'));
  try {
    // The linker opens the first libLLVM* of its library path, so the folder holds only that one.
    symlinkSync(toolchain.llvm, join(folder, basename(toolchain.llvm)));
    const target = join(folder, 'target');
    const result = spawnSync(toolchain.cargo, ['build', '--release', '--locked'], {
      cwd: join(checkout, 'programs/escrow'),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: {
        ...process.env,
        RUSTC: toolchain.rustc,
        // The custom target needs features that a release compiler hides.
        RUSTC_BOOTSTRAP: '1',
        LD_LIBRARY_PATH: folder,
        CARGO_TARGET_DIR: target,
        CARGO_TARGET_SBPF_SOLANA_LINKER: toolchain.linker,
        CARGO_ENCODED_RUSTFLAGS: rustFlags(architecture, checkout).join('\x1f'),
      },
    });
    if (result.error !== undefined) throw result.error;
    if (result.status !== 0) throw new Error(`cargo failed:\n${result.stderr}`);
    const errors = findCodegenErrors(result.stderr);
    if (errors.length > 0) throw new Error(`the code generator failed:\n${errors.join('\n')}`);
    return readFileSync(join(target, 'sbpf-solana/release/libescrow.so'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
