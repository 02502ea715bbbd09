import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Package {
  engines?: { node?: string };
  dependencies: Record<string, string>;
}

const root = new URL('../../', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

function readPackage(folder: string): Package {
  return JSON.parse(read(`${folder}package.json`));
}

/** As a number that grows with it; 0 for what tells no version. */
function versionIn(text: string | undefined, form: RegExp): number {
  const [, major = 0, minor = 0] = form.exec(text ?? '') ?? [];
  return Number(major) * 1_000 + Number(minor);
}

describe('the oldest Node that runs the commands itself', () => {
  it('is new enough for each dependency', () => {
    const oldest = versionIn(read('bin/svc.mjs'), /COMMANDS_NODE = \[(\d+), (\d+)\]/);
    expect(oldest).toBeGreaterThan(22_000);
    const tooNew = Object.keys(readPackage('').dependencies).filter((name) => {
      const { engines } = readPackage(`node_modules/${name}/`);
      return versionIn(engines?.node, /^>=\s*(\d+)(?:\.(\d+))?/) > oldest;
    });
    expect(tooNew).toEqual([]);
  });
});
