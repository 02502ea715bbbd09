import { statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import type { Shutdown } from '../common/shutdown.ts';
import { StackError } from './config.ts';
import { removeLeftoverDatabase } from './databaseRecord.ts';
import { openFolder } from './dataFolder.ts';
import { waitForFreePort } from './port.ts';
import { type Report, readStackFile, removeStackFile } from './stackFile.ts';

/** A killed stack's API completes its answers before it releases its port. */
const DEAD_STACK_TIMEOUT_MS = 25_000;

/**
 * Makes this process the only stack of its folder until `release`. It is a lock of the kernel, which
 * releases it however its owner ends.
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
    // An owner deletes its file before it releases it, and a lock on a deleted file excludes no other.
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
 * Locks the folder, waits for the port, and removes what a killed stack left behind.
 *
 * @returns the folder for logs
 * @throws StackError when another stack runs in the folder, or the port is occupied
 */
export async function claimFolder(input: {
  folder: string;
  listen: { host: string; port: number };
  shutdown: Shutdown;
  report: Report;
}): Promise<string> {
  const { folder, listen, shutdown, report } = input;
  const logFolder = join(folder, 'logs');
  for (const path of [folder, logFolder]) await openFolder('npm start', resolve(path), 0o700);
  const lock = await lockFolder(folder);
  shutdown.add('lock of the folder', lock.release);
  const isAfterKilledStack = readStackFile(folder) !== undefined;
  if (isAfterKilledStack) report('cleanup', 'after a stack that was killed');
  await removeLeftoverDatabase(folder);
  const timeoutMs = isAfterKilledStack ? DEAD_STACK_TIMEOUT_MS : 0;
  await waitForFreePort({ ...listen, timeoutMs });
  await removeStackFile(folder);
  return logFolder;
}
