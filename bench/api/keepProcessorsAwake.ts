import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** A loop that ends with its parent process. */
const BUSY_LOOP = 'while kill -0 "$PPID" 2>/dev/null; do :; done';

/**
 * Runs a loop of the lowest priority on each processor. An idle processor sleeps, a virtual one
 * returns to its host, and a single client wakes it many times a request. Needs Linux's `chrt` and
 * `taskset`.
 *
 * @returns ends the loops
 */
export function keepProcessorsAwake(): () => void {
  const loops = Array.from({ length: availableParallelism() }, (_, processor) => {
    const command = ['--idle', '0', 'taskset', '-c', String(processor), 'sh', '-c', BUSY_LOOP];
    return spawn('chrt', command, { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  return () => {
    for (const loop of loops) loop.kill();
  };
}
