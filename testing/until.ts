import { delay } from '../common/wait.ts';

const POLL_MS = 20;

/** Polls until another process has made a condition true; the test's time-out is the bound. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(POLL_MS);
}
