import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeFolder } from '../../bin/builtFolder.mjs';
import { checkout, type PackageKey, run } from './packing.ts';

/** Lines of Node.js and their oldest versions that the packages support. */
export const OLDEST_NODES = { 20: '20.19.0', 22: '22.13.1' } as const;
type Line = keyof typeof OLDEST_NODES;

const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit=dev'];

/** The lines for which the registry has a Node for this machine, besides this process's own. */
export const INSTALLABLE_LINES: readonly Line[] =
  process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) ? [20, 22] : [];

/**
 * Installs the oldest Node of a line, once for all runs.
 *
 * @returns its path
 */
export async function installNode(line: Line): Promise<string> {
  const version = OLDEST_NODES[line];
  const asked = `oldest@npm:node-${process.platform}-${process.arch}@${version}`;
  return join(await installOnce(`nodes/${version}`, asked), 'oldest/bin/node');
}

/**
 * Installs a version of npm, once for all runs.
 *
 * @returns the path of its program
 */
export async function installNpm(version: string): Promise<string> {
  return join(await installOnce(`npms/${version}`, `npm@${version}`), 'npm/bin/npm-cli.js');
}

/** Of several files of tests that want it at once, one installs. @returns what it was put into */
async function installOnce(name: string, asked: string): Promise<string> {
  const built = join(checkout, 'node_modules/.cache', name);
  await makeFolder({
    built,
    sources: [],
    async build(folder) {
      writeFileSync(join(folder, 'package.json'), '{}');
      await run(folder, 'npm', [...INSTALL, '--no-bin-links', asked]);
    },
  });
  return join(built, 'node_modules');
}

/** A project that has what npm installs for one package, and nothing else. */
export interface EmptyProject {
  readonly folder: string;
  /** Bytes of everything that was installed. */
  readonly installedBytes: number;
  /** Runs a command there. @throws Error when its exit code is not 0 */
  run(file: string, args: readonly string[]): Promise<string>;
}

/**
 * Installs a package from a service, as its page says, and its dependencies from the registry.
 *
 * @param options.folder where; it is made
 * @param options.serviceUrl of the service that serves the package
 * @param options.sources files of the checkout to begin the project with
 * @param options.peers what else the user of the package has
 */
export async function installInEmptyProject(options: {
  folder: string;
  serviceUrl: string;
  key: PackageKey;
  sources: readonly string[];
  peers?: readonly string[];
}): Promise<EmptyProject> {
  const { folder, serviceUrl, key, sources, peers = [] } = options;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  for (const source of sources) cpSync(join(checkout, source), join(folder, basename(source)));
  const address = `"$(curl -fsS ${serviceUrl}/packages/${key})"`;
  await run(folder, 'sh', ['-c', ['npm', ...INSTALL, address, ...peers].join(' ')]);
  const [kilobytes = ''] = (await run(folder, 'du', ['-sk', 'node_modules'])).split('\t');
  return {
    folder,
    installedBytes: Number(kilobytes) * 1_024,
    run: (file, args) => run(folder, file, args),
  };
}
