import { randomInt } from 'node:crypto';
import { findListenFault } from '../common/net/listenFault.mjs';
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
    if ((await findListenFault('127.0.0.1', port)) === undefined) return port;
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
  for (;;) {
    const fault = await findListenFault(host, port);
    if (fault === undefined) return;
    if (!fault.isTaken || performance.now() >= deadline) throw new StackError(fault.message);
    await delay(POLL_MS);
  }
}
