import { parentPort, Worker, workerData } from 'node:worker_threads';
import { endWithParent } from '../runtime/parent.ts';

const WATCH = 'watch the parent process';

/**
 * What `endWithParent` does, also while native code blocks the calling thread: from a thread beside
 * it. The process must leave SIGTERM to the system, since a blocked thread handles no signal.
 */
export function watchParent(): void {
  new Worker(new URL(import.meta.url), { execArgv: [], workerData: WATCH }).unref();
}

if (workerData === WATCH) {
  endWithParent();
  // A thread ends when it waits for nothing.
  parentPort?.on('message', () => {});
}
