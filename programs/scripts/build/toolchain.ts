import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
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

/** Where each part is looked for, the variable that names another place, and how to get it. */
const parts = {
  rustc: {
    variable: 'RUSTC',
    usual: () => '/usr/bin/rustc',
    install: 'apt-get install rustc-web rust-web-src',
  },
  cargo: {
    variable: 'CARGO',
    usual: () => '/usr/bin/cargo',
    install: 'apt-get install cargo-web',
  },
  linker: {
    variable: 'SBPF_LINKER',
    usual: () => join(homedir(), '.cargo/bin/sbpf-linker'),
    install: 'RUSTC=/usr/bin/rustc /usr/bin/cargo install sbpf-linker --version 0.2.6 --locked',
  },
  llvm: {
    variable: 'LIBLLVM',
    usual: () => globSync('/usr/lib/*/libLLVM.so.22.*')[0] ?? '/usr/lib/*/libLLVM.so.22.1',
    install: 'apt-get install libllvm22',
  },
} satisfies Record<keyof Toolchain, { variable: string; usual: () => string; install: string }>;

type Part = keyof Toolchain;
const names = Object.keys(parts) as Part[];

/** The part's first line about itself; of the library its version, which is in its name. */
const describe = (part: Part, path: string): string => {
  if (part === 'llvm') return `libLLVM ${/libLLVM\.so\.([\d.]+)$/.exec(path)?.[1]}`;
  return execFileSync(path, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? '';
};

/** The core library's source, which is compiled along because no built one has the target. */
const coreSource = (rustc: string): string => {
  const sysroot = execFileSync(rustc, ['--print', 'sysroot'], { encoding: 'utf8' }).trim();
  return join(sysroot, 'lib/rustlib/src/rust/library/core/Cargo.toml');
};

/**
 * The toolchain that made the committed artifacts. Nothing is installed: what is missing is said,
 * with the command that gets it.
 *
 * @param lockPath the file that records each part's version, one per line
 * @param environment `RUSTC`, `CARGO`, `SBPF_LINKER` and `LIBLLVM` name other places than Debian's
 * @returns the toolchain, or why this machine's builds could differ
 */
export const findLockedToolchain = (
  lockPath: string,
  environment: NodeJS.ProcessEnv,
): Toolchain | { missing: string } => {
  const toolchain = Object.fromEntries(
    names.map((part) => [part, environment[parts[part].variable] ?? parts[part].usual()]),
  ) as unknown as Toolchain;
  const absent = names.filter((part) => !existsSync(toolchain[part]));
  const lacks = absent.map((part) => `no ${toolchain[part]} (${parts[part].install})`);
  if (!absent.includes('rustc') && !existsSync(coreSource(toolchain.rustc))) {
    lacks.push(`no source of the core library (${parts.rustc.install})`);
  }
  if (lacks.length > 0) return { missing: lacks.join('; ') };

  const locked = readFileSync(lockPath, 'utf8').trimEnd().split('\n');
  const others = names.flatMap((part, index) => {
    const found = describe(part, toolchain[part]);
    return found === locked[index] ? [] : [`${found} instead of ${locked[index]}`];
  });
  return others.length > 0 ? { missing: others.join('; ') } : toolchain;
};
