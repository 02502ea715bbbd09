import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { delay } from '../common/wait.ts';
import { StackError } from './config.ts';

/** Below the ports that the system itself gives out. */
const PORT_MIN = 10_000;
const PORT_MAX = 32_000;

/**
 * A port of this machine that is free now. Another process takes it only by naming it, so it usually
 * stays free until its part listens there.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree('127.0.0.1', port)) return port;
  }
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
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') return false;
    const setting = code === 'EACCES' ? 'PORT' : 'HOST';
    throw new StackError(`${setting}: cannot be listened on: ${message}. Choose another.`);
  }
  server.close();
  await once(server, 'close');
  return true;
}
