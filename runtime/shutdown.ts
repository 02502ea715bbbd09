import type { Logger } from './logger.ts';
import { delay } from './wait.ts';

/** Closes what a process opened, last opened first, within a bound. */
export interface Shutdown {
  /** Registers a resource; `close` is called once. */
  add(name: string, close: () => Promise<void> | void): void;
  /**
   * Closes everything. Safe to call again: every caller gets the same run.
   *
   * @returns whether all was closed, in time and without an error
   */
  run(): Promise<boolean>;
  /** Ends the process on SIGINT and SIGTERM: 0 when all was closed in time, 1 otherwise. */
  onSignals(): void;
}

/**
 * @param timeoutMs the time all resources together may take; what hangs longer is named in the log
 */
export function createShutdown(options: { logger: Logger; timeoutMs: number }): Shutdown {
  const { logger, timeoutMs } = options;
  const resources: { name: string; close: () => Promise<void> | void }[] = [];
  let running: Promise<boolean> | undefined;
  let closing = '';

  async function closeAll(): Promise<boolean> {
    let clean = true;
    for (let resource = resources.pop(); resource; resource = resources.pop()) {
      closing = resource.name;
      try {
        await resource.close();
      } catch (error) {
        clean = false;
        logger.error({ msg: 'Failed to close a resource', resource: resource.name, err: error });
      }
    }
    return clean;
  }

  async function closeInTime(): Promise<boolean> {
    const timer = new AbortController();
    const late = delay(timeoutMs, timer.signal).then(() => {
      if (timer.signal.aborted) return false;
      logger.error({ msg: 'Gave up waiting for a resource to close', resource: closing });
      return false;
    });
    const clean = await Promise.race([closeAll(), late]);
    timer.abort();
    return clean;
  }

  function start(): Promise<boolean> {
    running ??= closeInTime();
    return running;
  }

  return {
    add: (name, close) => void resources.push({ name, close }),
    run: start,
    onSignals() {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        // Not once: a second signal must not kill what is just being closed.
        process.on(signal, () => {
          logger.info({ msg: 'Received a signal to end', signal });
          void start().then((clean) => process.exit(clean ? 0 : 1));
        });
      }
    },
  };
}
