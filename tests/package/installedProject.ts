import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { checkout, nameOf, PACKAGE_KEYS, type PackageKey, type Packed, run } from './packing.ts';

/** As strict as it gets, and with every library's types checked, ours among them. */
export const COMPILER_OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};

/** An empty project into which the packages were installed as they would be published. */
export interface InstalledProject {
  /** Where a package is. */
  installed(name: PackageKey): string;
  /** What a package's tarball holds, as paths in the package. */
  readonly packed: Readonly<Record<PackageKey, readonly string[]>>;
  /** Installs a dependency of the checkout. */
  link(name: string): void;
  /** Takes a dependency away. */
  unlink(name: string): void;
  /**
   * Runs a command in the project to its end.
   *
   * @returns what it printed
   * @throws Error with what it printed when its exit code is not 0
   */
  run(file: string, args: readonly string[]): Promise<string>;
}

/**
 * Does what `npm install` does, without a registry: the dependencies are links to those of the
 * checkout.
 *
 * @param folder an empty one
 * @param packages as they are published
 * @param sources files of the checkout to begin the project with
 * @param type of the project's own modules
 */
export async function installPacked(
  folder: string,
  packages: Readonly<Record<PackageKey, Packed>>,
  sources: readonly string[],
  type: 'commonjs' | 'module' = 'module',
): Promise<InstalledProject> {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  const installed = (key: PackageKey): string => join(modules, nameOf(key));

  const dependencies = new Set<string>();
  const packed: Partial<Record<PackageKey, string[]>> = {};
  for (const name of PACKAGE_KEYS) {
    const { description, tarball } = packages[name];
    // By Node: tar would start gzip.
    const unzipped = join(folder, `${name}.tar`);
    writeFileSync(unzipped, gunzipSync(readFileSync(tarball)));
    const list = await run(folder, 'tar', ['-tf', unzipped]);
    packed[name] = list
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''));
    mkdirSync(installed(name), { recursive: true });
    await run(folder, 'tar', ['-xf', unzipped, '--strip-components=1', '-C', installed(name)]);
    for (const [command, path] of Object.entries(description.bin ?? {})) {
      chmodSync(join(installed(name), path), 0o755);
      symlinkSync(join('..', nameOf(name), path), join(modules, '.bin', command));
    }
    for (const needed of Object.keys(description.dependencies ?? {})) dependencies.add(needed);
  }
  const link = (name: string): void => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  };
  const others = [
    '@coral-xyz/anchor',
    '@solana/web3.js',
    'solana-bankrun',
    'litesvm',
    'jest',
    '@types/node',
  ];
  for (const name of new Set([...dependencies, ...others])) link(name);
  symlinkSync('../jest/bin/jest.js', join(modules, '.bin/jest'));

  const files = sources.map((source) => basename(source));
  for (const source of sources) cpSync(join(checkout, source), join(folder, basename(source)));
  writeJson(join(folder, 'package.json'), { type, private: true });
  writeJson(join(folder, 'tsconfig.json'), {
    compilerOptions: COMPILER_OPTIONS,
    files,
  });
  return {
    installed,
    packed: packed as Record<PackageKey, string[]>,
    link,
    unlink: (name) => rmSync(join(modules, name)),
    run: (file, args) => run(folder, file, args),
  };
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value));
}
