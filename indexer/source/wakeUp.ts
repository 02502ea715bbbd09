import { delay } from '../../common/wait.ts';

/** Hints that come while nobody waits are kept as one. */
export interface WakeUp {
  wake(): void;
  /** Returns at the next hint, after `timeoutMs`, or when `signal` aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let hint = new AbortController();
  return {
    wake: () => hint.abort(),
    async wait(timeoutMs, signal) {
      await delay(timeoutMs, AbortSignal.any([hint.signal, signal]));
      hint = new AbortController();
    },
  };
}
