import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { delay } from '../common/wait.ts';
import { StackError } from './config.ts';

/** A port of this machine that nobody listens at now; somebody may in the next moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const POLL_MS = 100;

/**
 * Makes sure that a port can be listened on, before anything is started that would need it.
 *
 * @param patienceMs how long a process that is just ending may keep it
 * @throws StackError when it is taken, or not ours to take
 */
export async function expectFreePort(input: {
  host: string;
  port: number;
  patienceMs: number;
}): Promise<void> {
  const { host, port, patienceMs } = input;
  const deadline = performance.now() + patienceMs;
  while (!(await isFree(host, port))) {
    if (performance.now() >= deadline) {
      throw new StackError(`Port ${port} on ${host} is taken. Choose another: PORT=8180 npm start`);
    }
    await delay(POLL_MS);
  }
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw new StackError(`Port ${port} cannot be used: ${(error as Error).message}`);
  }
  server.close();
  await once(server, 'close');
  return true;
}
