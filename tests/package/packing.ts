import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILT, SCOPE, TARBALLS } from '../../bin/packages.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));
export const PACKAGE_KEYS = ['webhooks', 'client', 'testing', 'cli'] as const;
export type PackageKey = (typeof PACKAGE_KEYS)[number];

/** What a package is installed as. */
export const nameOf = (key: PackageKey) => `${SCOPE}/${key}` as const;

/** For what hangs. */
const COMMAND_TIMEOUT_MS = 500_000;

/** A package.json, as far as the tests read it. */
interface Description {
  name: string;
  version: string;
  engines?: { node: string };
  dependencies?: Record<string, string>;
  bin?: Record<string, string>;
}

/** A package as `npm publish` would upload it. */
export interface Packed {
  readonly description: Description;
  /** The path of its file. */
  readonly tarball: string;
}

/** The list of tarballs, as the API serves them. */
export interface Listed {
  readonly key: PackageKey;
  readonly file: string;
  readonly integrity: string;
}

/** Builds and packs all packages, where they are not what the sources are. */
export async function packPackages(): Promise<Record<PackageKey, Packed>> {
  await run(checkout, 'npm', ['run', '--silent', 'build']);
  const list: Listed[] = JSON.parse(readFileSync(join(TARBALLS, 'index.json'), 'utf8'));
  const packed = list.map(({ key, file }) => {
    const description: Description = JSON.parse(
      readFileSync(join(BUILT, key, 'package.json'), 'utf8'),
    );
    return [key, { description, tarball: join(TARBALLS, file) }] as const;
  });
  return Object.fromEntries(packed) as Record<PackageKey, Packed>;
}

/**
 * Runs a command to its end, with this process's node first on the path, as npm runs its scripts.
 *
 * @returns what it printed
 * @throws Error with what it printed when its exit code is not 0
 */
export async function run(cwd: string, file: string, args: readonly string[]): Promise<string> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const options = { cwd, timeout: COMMAND_TIMEOUT_MS, env: { ...process.env, PATH } };
  try {
    return (await promisify(execFile)(file, args, options)).stdout;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error([message, stdout, stderr].join('\n'));
  }
}
