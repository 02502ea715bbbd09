import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The programs a build runs. */
export interface Toolchain {
  rustc: string;
  cargo: string;
  linker: string;
  /** The shared library that the linker generates code with. */
  llvm: string;
}

/** What each part of the toolchain says about itself, one per line: the text of toolchain.lock. */
const describe = (toolchain: Toolchain): string => {
  const version = (program: string): string | undefined =>
    execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0];
  const llvm = /libLLVM\.so\.([\d.]+)$/.exec(toolchain.llvm)?.[1];
  return [
    version(toolchain.rustc),
    version(toolchain.cargo),
    version(toolchain.linker),
    `libLLVM ${llvm}`,
    '',
  ].join('\n');
};

/**
 * Finds the toolchain: Debian's rustc-web, cargo-web and libllvm22, and the sbpf-linker that cargo
 * installed. `RUSTC`, `CARGO` and `SBPF_LINKER` name others.
 *
 * @returns undefined when a part is missing
 */
const findToolchain = (environment: NodeJS.ProcessEnv): Toolchain | undefined => {
  const llvm = globSync('/usr/lib/*/libLLVM.so.22.*')[0];
  if (llvm === undefined) return undefined;
  return {
    rustc: environment.RUSTC ?? '/usr/bin/rustc',
    cargo: environment.CARGO ?? '/usr/bin/cargo',
    linker: environment.SBPF_LINKER ?? join(homedir(), '.cargo/bin/sbpf-linker'),
    llvm,
  };
};

/**
 * The toolchain that made the committed artifacts.
 *
 * @param lockPath the file that records it
 * @returns the toolchain, or why this machine's builds could differ
 */
export const findLockedToolchain = (
  lockPath: string,
  environment: NodeJS.ProcessEnv,
): Toolchain | { missing: string } => {
  const toolchain = findToolchain(environment);
  if (toolchain === undefined) return { missing: 'libLLVM 22 is not installed' };
  let found: string;
  try {
    found = describe(toolchain);
  } catch (error) {
    return { missing: (error as Error).message };
  }
  const locked = readFileSync(lockPath, 'utf8');
  if (found === locked) return toolchain;
  return { missing: `another toolchain is installed (${found.trim().replaceAll('\n', ', ')})` };
};
