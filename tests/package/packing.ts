import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));
export const PACKAGE_NAMES = ['svc-webhooks', 'svc-client', 'svc-testing', 'svc'] as const;
export type PackageName = (typeof PACKAGE_NAMES)[number];
/** For what hangs. */
const COMMAND_TIMEOUT_MS = 500_000;

/** A package.json, as far as the tests read it. */
interface Description {
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

/**
 * Builds and packs all packages.
 *
 * @param built the folder for it
 */
export async function packPackages(built: string): Promise<Record<PackageName, Packed>> {
  await run(checkout, 'npm', ['run', '--silent', 'build', built]);
  const folders = PACKAGE_NAMES.map((name) => `./${name}`);
  await run(built, 'npm', ['pack', '--silent', '--pack-destination', built, ...folders]);
  const packed = PACKAGE_NAMES.map((name) => {
    const description: Description = JSON.parse(
      readFileSync(join(built, name, 'package.json'), 'utf8'),
    );
    const tarball = join(built, `${name}-${description.version}.tgz`);
    return [name, { description, tarball }] as const;
  });
  return Object.fromEntries(packed) as Record<PackageName, Packed>;
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
