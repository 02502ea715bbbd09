import { statSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import type { Shutdown } from '../common/shutdown.ts';
import { StackError } from './config.ts';
import { removeLeftoverDatabase } from './leftovers.ts';
import { expectFreePort } from './port.ts';
import { readStackFile, removeStackFile, type Say } from './stackFile.ts';

/** A killed stack's API finishes its answers before it lets go of its port. */
const DEAD_STACK_PATIENCE_MS = 25_000;

/**
 * Makes this process the only stack of its folder until `release`. The lock is the kernel's, which
 * lets go of it however its owner dies.
 *
 * @throws StackError when another stack runs there
 */
export async function lockFolder(folder: string): Promise<{ release(): Promise<void> }> {
  const path = join(folder, 'stack.lock');
  for (;;) {
    const file = await open(path, 'a', 0o600);
    if (!tryLock(file.fd)) {
      await file.close();
      throw new StackError(describeTaken(folder));
    }
    // An owner removes its file while it still holds it: a lock on a removed file excludes nobody.
    const { ino } = await file.stat();
    if (statSync(path, { throwIfNoEntry: false })?.ino === ino) {
      return {
        async release() {
          await rm(path);
          await file.close();
        },
      };
    }
    await file.close();
  }
}

function describeTaken(folder: string): string {
  const running = readStackFile(folder);
  const where = running ? ` (process ${running.pid}, ${running.baseUrl})` : '';
  return `A stack already runs in this folder${where}. Stop it first.`;
}

/**
 * Makes a folder and a port this stack's own, and removes what a killed stack left.
 *
 * @returns where the logs go
 * @throws StackError when a stack runs there, or the port is taken
 */
export async function takeFolder(input: {
  folder: string;
  listen: { host: string; port: number };
  shutdown: Shutdown;
  say: Say;
}): Promise<string> {
  const { folder, listen, shutdown, say } = input;
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(folder);
  shutdown.add('lock of the folder', lock.release);
  const isAfterKilledStack = readStackFile(folder) !== undefined;
  if (isAfterKilledStack) say('cleanup', 'after a stack that was killed');
  await removeLeftoverDatabase(folder);
  const patienceMs = isAfterKilledStack ? DEAD_STACK_PATIENCE_MS : 0;
  await expectFreePort({ ...listen, patienceMs });
  await removeStackFile(folder);
  return logFolder;
}
