import { delay } from '../common/wait.ts';
import { StackError } from './errors.ts';

const POLL_MS = 50;

/**
 * Waits until a process's `/ready` answers 200. One that does not answer is asked again: whether it
 * has died is told elsewhere.
 *
 * @throws StackError when it does not in time
 */
export async function untilReady(url: string, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  let state = 'it does not answer';
  while (!signal.aborted) {
    try {
      const response = await fetch(`${url}/ready`, { signal });
      state = await response.text();
      if (response.ok) return;
    } catch {
      // Its last answer says more than how it fell silent.
    }
    await delay(POLL_MS, signal);
  }
  throw new StackError(`The mirror does not catch up: ${state}`);
}
