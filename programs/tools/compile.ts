import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Architecture, Program } from './artifacts.ts';

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
  cargo: { variable: 'CARGO', usual: () => '/usr/bin/cargo', install: 'apt-get install cargo-web' },
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

/** What the code generator says about every call of a function that the program itself provides. */
const providedByTheProgram =
  /: A call to built-in function '(memcpy|memmove|memset|memcmp|bcmp)' is not supported\.$/;

/**
 * 128-bit arithmetic that a dependency defines and nothing calls. A call from anywhere else would
 * be reported in the calling function.
 */
const unusedDefinition = /in function __(multi3|udivti3|umodti3) /;

/**
 * The errors of the code generator that mean wrong code: everything but the false alarms above.
 * `--fatal-errors=false` keeps the linker from stopping at any, so the build stops here.
 *
 * @param output what cargo printed, with the linker's messages
 */
export const findCodegenErrors = (output: string): string[] =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('ERROR llvm:'))
    .filter((line) => !providedByTheProgram.test(line) && !unusedDefinition.test(line));

/** What is compiled, and where. */
export interface Compilation {
  /** The folder that holds Cargo.toml and programs/ */
  checkout: string;
  architecture: Architecture;
  programs: readonly Program[];
  /** The escrow's address, where it is not the published one. */
  programId?: string | undefined;
  /** Whether the escrow hashes by the runtime's `sol_sha512`; the published builds do not. */
  hasSha512Syscall?: boolean;
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
  const { checkout, programs, programId, hasSha512Syscall = false, environment } = compilation;
  const folder = mkdtempSync(join(tmpdir(), 'escrow-build-'));
  try {
    // The linker opens the first libLLVM* of its library path, so the folder holds only that one.
    symlinkSync(toolchain.llvm, join(folder, basename(toolchain.llvm)));
    const target = join(folder, 'target');
    const packages = programs.flatMap((program) => ['--package', program]);
    if (hasSha512Syscall) packages.push('--features', 'sha512-syscall');
    const result = spawnSync(toolchain.cargo, ['build', '--release', '--locked', ...packages], {
      // Where cargo finds .cargo/config.toml with the target.
      cwd: join(checkout, 'programs'),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: {
        ...environment,
        // Undefined leaves it out, even where this process has one.
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
