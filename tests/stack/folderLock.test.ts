import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockFolder } from '../../stack/folderLock.ts';

const STARTS = 6;
const MODULE = new URL('../../stack/folderLock.ts', import.meta.url).href;
/** Loads everything first, locks when it is told to, and keeps the lock until it is killed. */
const START = `
  import { once } from 'node:events';
  import { lockFolder } from ${JSON.stringify(MODULE)};
  console.log('loaded');
  await once(process.stdin, 'data');
  try {
    await lockFolder('.');
    console.log('locked');
  } catch (error) {
    console.log(error.name);
  }
  setInterval(() => {}, 1_000);
`;

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  children = [];
});
afterEach(async () => {
  await kill(children);
  rmSync(folder, { recursive: true });
});

async function kill(processes: readonly ChildProcess[]): Promise<void> {
  for (const child of processes) {
    if (child.kill('SIGKILL')) await once(child, 'exit');
  }
}

/** Processes that lock the folder in the same moment. @returns what became of each */
async function lockAtOnce(count: number): Promise<{ child: ChildProcess; outcome: string }[]> {
  const starts = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', START], {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      const lines = createInterface({ input: child.stdout });
      await once(lines, 'line');
      return { child, told: once(lines, 'line') };
    }),
  );
  for (const { child } of starts) child.stdin?.write('now\n');
  return Promise.all(
    starts.map(async ({ child, told }) => ({ child, outcome: String((await told)[0]) })),
  );
}

describe('a data folder', () => {
  it('is taken by one of several simultaneous starts, even after one was killed', async () => {
    for (let round = 0; round < 4; round += 1) {
      const outcomes = await lockAtOnce(STARTS);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
        ...Array(STARTS - 1).fill('StackError'),
        'locked',
      ]);
      await kill(outcomes.map(({ child }) => child));
      children = [];
    }
  });

  it('is refused while it has an owner, and free afterwards', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow('A stack already runs in this folder.');
    await lock.release();
    await (await lockFolder(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  });
});
