import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import rootPackage from '../../package.json' with { type: 'json' };
import { needs } from '../../testing/machine/needs.ts';
import { installNode, installNpm } from './emptyProject.ts';
import { checkout } from './packing.ts';

const { describe, it } = needs('a registry of npm');

describe('a checkout on Node 20, with the npm that comes with it', () => {
  let folder: string;
  let node: string;
  let npm: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'old-node-'));
    [node, npm] = await Promise.all([installNode(20), installNpm('10.8.2')]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const copy = (paths: readonly string[], to: string) => {
    for (const path of paths) cpSync(join(checkout, path), join(to, path));
  };

  /** Runs npm without the settings of the one that runs the tests. */
  const runNpm = (cwd: string, args: readonly string[]) => {
    const { HOME, PATH } = process.env;
    const env = { HOME, PATH: [dirname(node), PATH].join(delimiter) };
    return promisify(execFile)(node, [npm, ...args], { cwd, env, maxBuffer: 1e8 });
  };

  it('installs what package-lock.json says, and npm warns of nothing', async () => {
    const project = join(folder, 'locked');
    const packages = rootPackage.workspaces.map((path) => `${path}/package.json`);
    copy(['package.json', 'package-lock.json', '.npmrc', ...packages], project);

    const args = ['ci', '--dry-run', '--offline', '--no-audit', '--no-fund'];
    const { stdout, stderr } = await runNpm(project, args);

    expect(stderr).toBe('');
    expect(stdout).toMatch(/^added \d{3,} packages in /m);
  });

  it('starts on the Node that it brings, with one sentence about that', async () => {
    const project = join(folder, 'started');
    copy(
      ['.npmrc', 'common/net/listenFault.mjs', 'bin/pinnedNode.mjs', 'stack/launch.mjs'],
      project,
    );
    const { name, version, engines } = rootPackage;
    const scripts = { start: rootPackage.scripts.start };
    const brought = { name: 'node', version: '24.0.0', bin: { node: 'bin/node' } };
    const described = { name, version, engines, dependencies: { node: 'file:brought' } };
    mkdirSync(join(project, 'brought/bin'), { recursive: true });
    symlinkSync(process.execPath, join(project, 'brought/bin/node'));
    const files = {
      'package.json': { ...described, type: 'module', private: true, scripts },
      'package-lock.json': {
        ...{ name, version, lockfileVersion: 3, requires: true },
        packages: {
          '': described,
          brought,
          'node_modules/node': { resolved: 'brought', link: true },
        },
      },
      'brought/package.json': brought,
    };
    for (const [path, content] of Object.entries(files)) {
      writeFileSync(join(project, path), JSON.stringify(content));
    }
    writeFileSync(join(project, 'stack/main.ts'), 'console.log(process.version as string);');

    const { stdout, stderr } = await runNpm(project, ['start']);

    expect(stderr).toBe(
      'Installing the dependencies, and the Node 24 that they need, since this is v20.19.0 ' +
        '(once: 1 GB, in one to a few minutes) …\n',
    );
    expect(stdout.trim().split('\n').at(-1)).toBe(process.version);
    expect(existsSync(join(project, 'node_modules/node/bin/node'))).toBe(true);
  });
});
