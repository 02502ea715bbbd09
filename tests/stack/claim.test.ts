import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { claimFolder } from '../../stack/claim.ts';

jest.setTimeout(120_000);

const CLAIMANTS = 6;
const MODULE = new URL('../../stack/claim.ts', import.meta.url).href;
/** Loads everything first, claims when it is told to, and keeps the claim until it is killed. */
const CLAIMANT = `
  import { once } from 'node:events';
  import { claimFolder } from ${JSON.stringify(MODULE)};
  console.log('loaded');
  await once(process.stdin, 'data');
  try {
    await claimFolder('.');
    console.log('claimed');
  } catch (error) {
    console.log(error.name);
  }
  setInterval(() => {}, 1_000);
`;

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-claim-'));
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

/** Processes that claim the folder in the same moment. @returns what became of each */
async function claimAtOnce(count: number): Promise<{ child: ChildProcess; outcome: string }[]> {
  const claimants = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', CLAIMANT], {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      const lines = createInterface({ input: child.stdout });
      await once(lines, 'line');
      return { child, told: once(lines, 'line') };
    }),
  );
  for (const { child } of claimants) child.stdin?.write('now\n');
  return Promise.all(
    claimants.map(async ({ child, told }) => ({ child, outcome: String((await told)[0]) })),
  );
}

describe('a folder', () => {
  it('goes to one of those who claim it at the same moment, also after one that was killed', async () => {
    for (let round = 0; round < 4; round += 1) {
      const outcomes = await claimAtOnce(CLAIMANTS);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
        ...Array(CLAIMANTS - 1).fill('StackError'),
        'claimed',
      ]);
      await kill(outcomes.map(({ child }) => child));
      children = [];
    }
  });

  it('is refused while an owner of an earlier version answers, and free once that has ended', async () => {
    const owner = createServer((socket) => socket.destroy()).listen(join(folder, 'stack.sock'));
    await once(owner, 'listening');
    await expect(claimFolder(folder)).rejects.toThrow('A stack already runs in this folder.');
    owner.close();
    await once(owner, 'close');

    const claim = await claimFolder(folder);
    await expect(claimFolder(folder)).rejects.toThrow('A stack already runs in this folder.');
    await claim.release();
    expect(readdirSync(folder)).toEqual([]);
  });
});
