import { delay } from '../common/wait.ts';

const POLL_MS = 10;
/** Nothing that is measured takes so long, on the slowest machine. */
const WAIT_MS_MAX = 600_000;

/** @throws Error naming what has not come about in ten minutes */
export async function waitUntil(
  what: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(POLL_MS);
  }
}
