import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Ends with whoever started it, however that ended. */
const BUSY_LOOP = 'while kill -0 "$PPID" 2>/dev/null; do :; done';

/**
 * Gives each processor something to do that anything else comes before. A processor without work goes
 * to sleep, a virtual one back to its host, and with a lone client it is woken many times a request.
 * Needs Linux's `chrt` and `taskset`.
 *
 * @returns lets them sleep again
 */
export function keepAwake(): () => void {
  const loops = Array.from({ length: availableParallelism() }, (_, processor) => {
    const command = ['--idle', '0', 'taskset', '-c', String(processor), 'sh', '-c', BUSY_LOOP];
    return spawn('chrt', command, { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  return () => {
    for (const loop of loops) loop.kill();
  };
}
