import { Worker } from 'node:worker_threads';

/** Of a thread beside the one that may be blocked; what it says goes past streams of the blocked one. */
const WATCH = `
  const { writeSync } = require('node:fs');
  const { workerData } = require('node:worker_threads');
  setTimeout(() => {
    writeSync(2, workerData.words + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }, workerData.timeoutMs);
`;

/**
 * Runs native code that may never return. Nothing else of this thread could notice, and nothing
 * could end it but the end of the process.
 *
 * @param options.timeoutMs after which the process is killed
 * @param options.words what it says before
 */
export function endIfBlocked<Result>(
  work: () => Result,
  options: { timeoutMs: number; words: string },
): Result {
  const watch = new Worker(WATCH, { eval: true, execArgv: [], workerData: options });
  watch.unref();
  try {
    return work();
  } finally {
    void watch.terminate();
  }
}
