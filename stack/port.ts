import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { delay } from '../common/wait.ts';
import { StackError } from './config.ts';

/** A port of this machine that is free now; another process may take it at any time. */
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
 * Waits until a port is free, before the parts start.
 *
 * @param timeoutMs the time for an ending process to release it
 * @throws StackError when it stays occupied or is not permitted
 */
export async function waitForFreePort(input: {
  host: string;
  port: number;
  timeoutMs: number;
}): Promise<void> {
  const { host, port, timeoutMs } = input;
  const deadline = performance.now() + timeoutMs;
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
