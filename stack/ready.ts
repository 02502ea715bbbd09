import { delay } from '../runtime/wait.ts';
import { StackError } from './errors.ts';

const POLL_MS = 50;

/**
 * Waits until a process's `/ready` answers 200.
 *
 * @throws StackError when it does not in time
 */
export async function untilReady(url: string, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const response = await fetch(`${url}/ready`);
    const state = await response.text();
    if (response.ok) return;
    if (signal.aborted) throw new StackError(`The mirror does not catch up: ${state}`);
    await delay(POLL_MS);
  }
}
