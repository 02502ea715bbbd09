import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { checkout } from './packing.ts';

// Below the checkout, as what is built is: other folders have another file system, perhaps.
let folder: string;
let built: string;
beforeEach(() => {
  folder = mkdtempSync(join(checkout, 'node_modules/.cache/test-'));
  built = join(folder, 'built');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process that makes the folder, notes that it builds, and builds for so long. */
const maker = (buildMs: number) => [
  '--input-type=module',
  '-e',
  `import { appendFileSync, writeFileSync } from 'node:fs';
   import { makeFolder } from '${join(checkout, 'bin/builtFolder.mjs')}';
   await makeFolder({
     built: '${built}',
     sources: ['LICENSE'],
     async build(target) {
       appendFileSync('${folder}/builds', process.pid + '\\n');
       await new Promise((resolve) => setTimeout(resolve, ${buildMs}));
       writeFileSync(target + '/file', 'whole');
     },
   });`,
];
const make = (buildMs = 0) => promisify(execFile)(process.execPath, maker(buildMs));
const builds = () => readFileSync(join(folder, 'builds'), 'utf8').trim().split('\n');
const leftovers = () =>
  readdirSync(join(checkout, 'node_modules/.cache')).filter(
    (entry) => entry.includes(basename(folder)) && entry !== basename(folder),
  );

describe('a folder that is made of sources', () => {
  it('is built once by several processes at a time, and not again', async () => {
    await Promise.all([make(), make(), make()]);
    await make();
    expect(builds()).toHaveLength(1);
    expect(readFileSync(join(built, 'file'), 'utf8')).toBe('whole');
    expect(leftovers()).toEqual([]);
  });

  it('is built again after a builder was killed, of which nothing stays', async () => {
    const killed = spawn(process.execPath, maker(60_000));
    while (!existsSync(join(folder, 'builds'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(leftovers()).not.toEqual([]);
    await make();
    expect(builds()).toHaveLength(2);
    expect(leftovers()).toEqual([]);
  });

  it('is built again where its sources have changed', async () => {
    await make();
    writeFileSync(join(built, '.sources'), 'of other sources');
    await make();
    expect(builds()).toHaveLength(2);
  });
});
