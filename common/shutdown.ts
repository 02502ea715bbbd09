import { ConfigError } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import { delay, within } from './wait.ts';

/** A part of a process. */
export interface Part {
  start?(): Promise<void>;
  /** May be called before `start`, or after it has failed. */
  close(): Promise<void> | void;
}

export type Shutdown = ReturnType<typeof createShutdown>;

/**
 * Closes what a process opened, last opened first, within a bound.
 *
 * @param timeoutMs the time all resources together may take; what hangs longer is named in the log
 */
export function createShutdown(options: { logger: Logger; timeoutMs: number }) {
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

  /**
   * Closes everything. Safe to call again: every caller gets the same run.
   *
   * @returns whether all was closed, in time and without an error
   */
  function run(): Promise<boolean> {
    running ??= closeInTime();
    return running;
  }

  return {
    /** Registers a resource; `close` is called once. */
    add: (name: string, close: () => Promise<void> | void): void =>
      void resources.push({ name, close }),
    /** Starts a part, which is closed at the end, also when its start fails. */
    async open<Opened extends Part>(name: string, part: Opened): Promise<Opened> {
      resources.push({ name, close: () => part.close() });
      await part.start?.();
      return part;
    },
    run,
    /** Ends the process on SIGINT and SIGTERM: 0 when all was closed in time, 1 otherwise. */
    onSignals(): void {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        // Not once: a second signal must not kill what is just being closed.
        process.on(signal, () => {
          logger.info({ msg: 'Received a signal to end', signal });
          void run().then((clean) => process.exit(clean ? 0 : 1));
        });
      }
    },
  };
}

/** So long the report of a failed start waits for what was opened before. */
const FAILED_START_MS = 3_000;

/** Runs the start of a process. If it fails, what it opened is closed before its error is thrown. */
export async function closingOnFailure<Started>(
  shutdown: Shutdown,
  start: () => Promise<Started>,
): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    await within(FAILED_START_MS, shutdown.run());
    throw error;
  }
}

const CHECK_INTERVAL_MS = 500;

/**
 * Ends this process the way SIGTERM does once the process that started it is gone. Does nothing
 * unless SVC_PARENT_PID names the parent.
 *
 * It compares the present parent with the named one, since the system gives every orphan another
 * parent. The named id itself may belong to another process by then.
 */
export function endWithParent(environment: NodeJS.ProcessEnv = process.env): void {
  if (!environment.SVC_PARENT_PID) return;
  const parentId = Number(environment.SVC_PARENT_PID);
  const timer = setInterval(() => {
    if (process.ppid === parentId) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

/**
 * The last step of a process's start. From here on it ends on signals and with its parent. A line of
 * JSON on its standard output says that it is ready.
 *
 * @param ready what the starter needs to know, such as where it listens
 */
export function runUntilEnded(shutdown: Shutdown, ready: Record<string, unknown>): void {
  // The starter may end the process as soon as it reads that line.
  shutdown.onSignals();
  endWithParent();
  process.stdout.write(`${JSON.stringify({ ready: true, ...ready })}\n`);
}

/**
 * Logs the error that ends a process, at its start or later, as a JSON line like all others. The
 * exit code is 1, as without it.
 *
 * @param name the process's, as in its other lines
 */
export function endOnError(name: string): void {
  process.on('uncaughtException', (error) => {
    const logger = createLogger({ name, level: 'fatal' });
    // A wrong setting needs no stack.
    if (error instanceof ConfigError) for (const msg of error.faults) logger.fatal({ msg });
    else logger.fatal({ msg: 'Ended by an error', err: error });
    process.exit(1);
  });
}
