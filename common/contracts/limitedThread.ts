import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Clients write the schemas: patterns, references and lengths may ask for any work and memory. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/**
 * Starts a thread of little memory, without the process's environment, which has its keys.
 *
 * @param entry a module that posts a message once it takes others
 * @returns once it has
 * @throws an AbortError where the signal aborts before
 */
export async function startLimitedThread(entry: URL, signal?: AbortSignal): Promise<Worker> {
  const thread = new Worker(entry, { resourceLimits: MEMORY, env: {} });
  // Who waits for its message gets the error, too.
  thread.on('error', () => undefined);
  try {
    await once(thread, 'message', signal && { signal });
    return thread;
  } catch (error) {
    await thread.terminate();
    throw error;
  }
}
