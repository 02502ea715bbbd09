import { delay } from '../common/wait.ts';

const POLL_MS = 20;

/** Waits for another process to bring something about; the test's own time-out is the bound. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(POLL_MS);
}
