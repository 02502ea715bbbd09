import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { StackError } from './errors.ts';
import { readStackFile } from './stackFile.ts';

/**
 * Makes this process the only stack of its folder until `release`.
 *
 * The claim is a listening socket and not a recorded process id: the system lets go of it however
 * its owner dies, and by then the id may be another process's.
 *
 * @param folder relative: a socket's path may have about a hundred characters
 * @throws StackError when another stack runs there
 */
export async function claimFolder(folder: string): Promise<{ release(): Promise<void> }> {
  const path = join(folder, 'stack.sock');
  if (await answers(path)) {
    const running = readStackFile(folder);
    const where = running ? ` (process ${running.pid}, ${running.baseUrl})` : '';
    throw new StackError(`A stack already runs in this folder${where}. Stop it first.`);
  }
  await rm(path, { force: true });
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  return {
    async release() {
      server.close();
      await once(server, 'close');
    },
  };
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // No such socket, or one that a dead process left.
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
