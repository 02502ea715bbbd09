import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shutdown } from '../common/shutdown.ts';
import { claimFolder } from './claim.ts';
import { removeLeftoverDatabase } from './leftovers.ts';
import { expectFreePort } from './port.ts';
import { readStackFile, removeStackFile, type Say } from './stackFile.ts';

/** A killed stack's API finishes its answers before it lets go of its port. */
const DEAD_STACK_PATIENCE_MS = 25_000;

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
  const claim = await claimFolder(folder);
  shutdown.add('claim', claim.release);
  const isAfterKilledStack = readStackFile(folder) !== undefined;
  if (isAfterKilledStack) say('cleanup', 'after a stack that was killed');
  await removeLeftoverDatabase(folder);
  const patienceMs = isAfterKilledStack ? DEAD_STACK_PATIENCE_MS : 0;
  await expectFreePort({ ...listen, patienceMs });
  await removeStackFile(folder);
  return logFolder;
}
