import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { compile, findLockedToolchain } from '../../../programs/tools/compile.ts';

const LOCK = ['rustc 1.96.0', 'cargo 1.96.0', 'sbpf-linker 0.2.6', 'libLLVM 22.1'];

let folder: string;
let environment: Record<string, string>;
let lockPath: string;

/** A program that prints what the test sets, as the real one would. */
function place(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolchain-'));
  const core = join(folder, 'lib/rustlib/src/rust/library/core');
  mkdirSync(core, { recursive: true });
  writeFileSync(join(core, 'Cargo.toml'), '');
  const llvm = join(folder, 'libLLVM.so.22.1');
  writeFileSync(llvm, '');
  const printsSysroot = `[ "$1" = --print ] && echo ${folder} || echo rustc 1.96.0`;
  environment = {
    RUSTC: place('rustc', printsSysroot),
    CARGO: place('cargo', 'echo cargo 1.96.0'),
    SBPF_LINKER: place('sbpf-linker', 'echo sbpf-linker 0.2.6'),
    LIBLLVM: llvm,
  };
  lockPath = join(folder, 'toolchain.lock');
  writeFileSync(lockPath, `${LOCK.join('\n')}\n`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const find = () => findLockedToolchain(lockPath, environment);

describe('the toolchain', () => {
  it('is accepted when every part has its locked version', () => {
    expect(find()).toEqual({
      rustc: environment.RUSTC,
      cargo: environment.CARGO,
      linker: environment.SBPF_LINKER,
      llvm: environment.LIBLLVM,
    });
  });

  it.each([
    ['RUSTC', 'apt-get install rustc-web rust-web-src'],
    ['CARGO', 'apt-get install cargo-web'],
    ['SBPF_LINKER', '/usr/bin/cargo install sbpf-linker --version 0.2.6 --locked'],
    ['LIBLLVM', 'apt-get install libllvm22'],
  ])('lacks what %s names, and explains how to install it', (variable, command) => {
    const path = environment[variable] as string;
    rmSync(path);
    const result = find();
    expect(result).toEqual({ missing: expect.stringContaining(`no ${path} (`) });
    expect(result).toEqual({ missing: expect.stringContaining(command) });
  });

  it('lacks the source of the core library', () => {
    rmSync(join(folder, 'lib'), { recursive: true });
    expect(find()).toEqual({
      missing: 'no source of the core library (apt-get install rustc-web rust-web-src)',
    });
  });

  it('is reported with everything that is missing at once', () => {
    rmSync(environment.CARGO as string);
    rmSync(environment.LIBLLVM as string);
    expect(find()).toEqual({ missing: expect.stringMatching(/cargo-web.*libllvm22/) });
  });

  it('is refused when a single version differs, which is named', () => {
    place('rustc', `[ "$1" = --print ] && echo ${folder} || echo rustc 1.95.0`);
    place('sbpf-linker', 'echo sbpf-linker 0.3.0');
    expect(find()).toEqual({
      missing:
        'rustc 1.95.0 instead of rustc 1.96.0; sbpf-linker 0.3.0 instead of sbpf-linker 0.2.6',
    });
  });
});

describe('a build', () => {
  const build = (hasSha512Syscall = false) => {
    const toolchain = find();
    if ('missing' in toolchain) throw new Error(toolchain.missing);
    mkdirSync(join(folder, 'programs'), { recursive: true });
    return compile(toolchain, {
      ...{ checkout: folder, architecture: 'v0', programs: ['hostile'], environment },
      hasSha512Syscall,
    });
  };
  /** Stands in for cargo: says its version to the lock's question, and does this to the build's. */
  const cargoDoes = (script: string): void => {
    place('cargo', `[ "$1" = --version ] && echo cargo 1.96.0 && exit; ${script}`);
  };
  const WRITES =
    'd=$CARGO_TARGET_DIR/sbpf-solana/release; mkdir -p $d; echo binary > $d/libhostile.so';

  it("returns the compiler's output despite the known false alarms", () => {
    const alarm = "A call to built-in function 'memcpy' is not supported.";
    cargoDoes(`echo "ERROR llvm: <unknown>:0:0: in function f: ${alarm}" >&2; ${WRITES}`);
    expect(Buffer.from(build().get('hostile') ?? []).toString()).toBe('binary\n');
  });

  it('fails on any other code generator error, even if the compiler succeeds', () => {
    cargoDoes(`echo 'ERROR llvm: stack offset exceeds max offset' >&2; ${WRITES}`);
    expect(build).toThrow(/the code generator failed:\nERROR llvm: stack offset exceeds/);
  });

  it("fails with the compiler's message", () => {
    cargoDoes("echo 'error: no such field' >&2; exit 101");
    expect(build).toThrow('cargo failed:\nerror: no such field');
  });

  it('hashes by the runtime only where it is asked to', () => {
    const asksFor = (options: string) =>
      cargoDoes(`[ "$*" = "build --release --locked ${options}" ] || exit 7; ${WRITES}`);
    asksFor('--package hostile');
    build();
    asksFor('--package hostile --features sha512-syscall');
    build(true);
    expect(build).toThrow('cargo failed');
  });

  it('uses the published address, in any environment of the caller', () => {
    environment.ESCROW_PROGRAM_ID = 'another';
    cargoDoes(`[ -z "$ESCROW_PROGRAM_ID" ] || exit 7; ${WRITES}`);
    build();
  });
});
