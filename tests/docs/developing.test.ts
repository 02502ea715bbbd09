import { execFileSync, spawnSync } from 'node:child_process';
import {
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { checkout, codeBlocks } from './documents.ts';

// It runs jest twice, each time from its start.
jest.setTimeout(180_000);

const path = 'docs/developing.md';
const text = readFileSync(join(checkout, path), 'utf8');

describe('the table of test folders', () => {
  it('has each folder with tests', () => {
    const tests = globSync('tests/**/*.test.ts', { cwd: checkout });
    const folders = new Set(tests.map((test) => test.split('/').slice(0, 2).join('/')));
    const rows = [...text.matchAll(/^\| `(tests\/\w+)` \| .+ \|$/gm)];
    expect(rows.map(([, folder]) => folder)).toEqual([...folders].sort());
  });
});

describe('the first minute of the page', () => {
  const [first, second, third] = codeBlocks({ path, text }, ['console']).map((block) =>
    block.trim().replace(/^\$ /, ''),
  );
  const [, line = '', instead = ''] = /write `([^`]+)` in place of `([^`]+)`/.exec(text) ?? [];
  const file = /in `([^`]+)` write/.exec(text)?.[1] ?? '';
  let clone: string;

  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'svc-first-minute-'));
    execFileSync('git', ['clone', '--quiet', '--shared', checkout, clone]);
    symlinkSync(join(checkout, 'node_modules'), join(clone, 'node_modules'));
    // A link is no folder, which git ignores.
    writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
    // Otherwise it would install into the packages of this checkout.
    utimesSync(join(clone, 'package-lock.json'), 0, 0);
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  const run = (command = '') => {
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: clone, encoding: 'utf8' });
    return { status, stderr };
  };

  it('goes from a green test through a red one to a clean checkout', () => {
    expect(run(first)).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^Tests: .*passed/m),
    });

    const source = readFileSync(join(clone, file), 'utf8');
    expect(source).toContain(instead);
    writeFileSync(join(clone, file), source.replace(instead, line));
    const { status, stderr } = run(second);
    expect(stderr).toContain(`uses ${file}`);
    expect(stderr).toMatch(/^Tests: .*failed/m);
    expect(status).toBe(1);

    expect(run(third).status).toBe(0);
    expect(readFileSync(join(clone, file), 'utf8')).toBe(source);
  });
});
