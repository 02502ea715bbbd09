import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

type Versions = Record<string, string>;

interface Package {
  version: string;
  engines?: { node?: string };
  dependencies: Versions;
  devDependencies?: Versions;
  peerDependencies?: Versions;
}

const root = new URL('../../', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

function readPackage(folder: string): Package {
  return JSON.parse(read(`${folder}package.json`));
}

/** As a number that grows with it; 0 for what has no version. */
function versionIn(text: string | undefined, form: RegExp): number {
  const [, major = 0, minor = 0] = form.exec(text ?? '') ?? [];
  return Number(major) * 1_000 + Number(minor);
}

describe('the oldest Node that runs the commands', () => {
  it('satisfies every dependency', () => {
    const { engines, dependencies } = readPackage('cli/');
    const oldest = versionIn(engines?.node, /^>=\s*(\d+)(?:\.(\d+))?/);
    expect(oldest).toBeGreaterThanOrEqual(22_000);
    const tooNew = Object.keys(dependencies).filter((name) => {
      const needed = readPackage(`node_modules/${name}/`).engines;
      return versionIn(needed?.node, /^>=\s*(\d+)(?:\.(\d+))?/) > oldest;
    });
    expect(tooNew).toEqual([]);
  });
});

describe('the lockfile', () => {
  const asked = readPackage('');
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, Package>;
  };

  // npm installs what package.json asks for: what was not locked comes without a hash to compare.
  it('matches package.json', () => {
    const { version, dependencies, devDependencies } = asked;
    expect(packages['']).toMatchObject({ version, dependencies, devDependencies });
    const direct = { ...dependencies, ...devDependencies };
    const locked = Object.keys(direct).map((name) => [
      name,
      packages[`node_modules/${name}`]?.version,
    ]);
    expect(Object.fromEntries(locked)).toEqual(direct);
  });

  it('matches the installed packages', () => {
    const names = Object.keys({ ...asked.dependencies, ...asked.devDependencies });
    const other = names.filter(
      (name) =>
        readPackage(`node_modules/${name}/`).version !== packages[`node_modules/${name}`]?.version,
    );
    expect(other).toEqual([]);
  });

  // npm 10, which Node 20 and 22 bring, refuses a lockfile that lacks one.
  it('has a version that fits for each peer that it has at all', () => {
    const unfit = Object.entries(packages).flatMap(([path, { peerDependencies = {} }]) =>
      Object.entries(peerDependencies).flatMap(([name, range]) => {
        const found = foldersAbove(path).find(
          (above) => `${above}node_modules/${name}` in packages,
        );
        const version = packages[`${found}node_modules/${name}`]?.version ?? '';
        const majors = [...range.matchAll(/(?:^|\|\|) *[\^~]?(\d+)/g)].map(([, major]) => major);
        const isFit = /[>*]/.test(range) || majors.includes(version.split('.')[0]);
        return found === undefined || version === '' || isFit ? [] : `${path}: ${name} ${range}`;
      }),
    );
    expect(unfit).toEqual([]);
  });

  /** Where npm puts the peers of a package, the nearest folder first. */
  function foldersAbove(path: string): string[] {
    const parts = path.split('node_modules/');
    return parts.map((_, last) => parts.slice(0, last).join('node_modules/')).toReversed();
  }

  // Its native part reads beyond a buffer's end, and no version of it is mended.
  it('has no bigint-buffer', () => {
    const paths = Object.keys(packages);
    expect(paths.filter((path) => path.endsWith('node_modules/bigint-buffer'))).toEqual([]);
  });
});
