import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const STARTS = 6;
const MODULE = new URL('../../stack/folderLock.ts', import.meta.url).href;
/** Loads everything first, locks at each line that it reads, and keeps the lock until it is killed. */
const START = `
  import { lockFolder } from ${JSON.stringify(MODULE)};
  console.log('loaded');
  process.stdin.on('data', async () => {
    try {
      await lockFolder('.');
      console.log('locked');
    } catch (error) {
      console.log(error.name);
    }
  });
`;

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map(kill));
  rmSync(folder, { recursive: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.kill('SIGKILL')) await once(child, 'exit');
}

/** A process that is ready to lock the folder. @returns what locks it, and says what came of that */
async function openStart() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', START], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  return {
    child,
    async lock(): Promise<string> {
      const line = once(lines, 'line');
      child.stdin.write('now\n');
      return String((await line)[0]);
    },
  };
}

describe('a data folder', () => {
  it('is taken by one of several simultaneous starts, also after a kill', async () => {
    let starts = await Promise.all(Array.from({ length: STARTS }, openStart));
    while (starts.length > 1) {
      const outcomes = await Promise.all(starts.map(({ lock }) => lock()));
      expect(outcomes.toSorted()).toEqual([
        ...Array(starts.length - 1).fill('StackError'),
        'locked',
      ]);
      const owner = outcomes.indexOf('locked');
      await kill(starts[owner]?.child as ChildProcess);
      starts = starts.toSpliced(owner, 1);
    }
  });
});
