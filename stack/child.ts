import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { delay } from '../common/wait.ts';
import { StackError } from './config.ts';

const POLL_MS = 50;

/**
 * Waits until a process's `/ready` answers 200. A failed request is repeated: the process may be
 * starting again.
 *
 * @throws StackError with its last answer once `signal` aborts
 */
export async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  let state = 'it does not answer';
  while (!signal.aborted) {
    try {
      const response = await fetch(`${url}/ready`, { signal });
      state = await response.text();
      if (response.ok) return;
    } catch {
      // The error reports its last answer, not this failure.
    }
    await delay(POLL_MS, signal);
  }
  throw new StackError(`The mirror does not catch up: ${state}`);
}

/** How a process ended by itself. */
export interface ProcessExit {
  /** The rest of a sentence about it, such as `ended unexpectedly (SIGKILL)`. */
  how: string;
  /** The last lines of its log, below the log's path. */
  lastLines: string;
}

export type Child = ReturnType<typeof startChild>;

/** Most parts need a second, but more on an overloaded machine. */
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const LAST_LINES = 12;

const readyLine = z.object({ ready: z.literal(true), url: z.string() });

/**
 * Starts `<project>/<script>` with its log in `<logFolder>/<name>.log`. A process that does not
 * report in time that it is ready is killed.
 *
 * @param environment all of its settings; secrets are passed only here
 * @param isRestart whether the process appends to its log, in place of an empty one
 * @param readyTimeoutMs how long it may take until it reports
 * @param stopTimeoutMs how long it may take to end after SIGTERM
 */
export function startChild(options: {
  name: string;
  script: string;
  environment: NodeJS.ProcessEnv;
  logFolder: string;
  isRestart?: boolean;
  readyTimeoutMs?: number;
  stopTimeoutMs?: number;
}) {
  const { name, script, environment, logFolder, isRestart = false } = options;
  const { readyTimeoutMs = READY_TIMEOUT_MS, stopTimeoutMs = STOP_TIMEOUT_MS } = options;
  const logPath = join(logFolder, `${name}.log`);
  const log = openSync(logPath, isRestart ? 'a' : 'w', 0o600);
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../${script}`, import.meta.url))], {
    env: { ...environment, SVC_PARENT_PID: `${process.pid}` },
    stdio: ['ignore', 'pipe', log],
    // Its own process group: Ctrl-C reaches only the stack, which ends everything in order.
    detached: true,
  });
  closeSync(log);
  let isStopping = false;
  let isLate = false;
  const ended = describeEnd(child).then((how) => ({
    how: isLate ? `was not ready after ${readyTimeoutMs / 1_000} seconds` : how,
    lastLines: `Its last lines (${logPath}):\n${tail(logPath)}`,
  }));
  const failed = ended.then(({ how, lastLines }): never => {
    throw new StackError(`The ${name} ${how}. ${lastLines}`);
  });
  const ready = Promise.race([
    readReadyUrl(child, readyTimeoutMs, () => {
      isLate = true;
      child.kill('SIGKILL');
    }),
    failed,
  ]);
  // A caller that waits for `exited` alone must not cause an unhandled rejection.
  ready.catch(() => undefined);
  return {
    /**
     * Its address, once it reports that it is ready. Throws StackError with its last log lines when it
     * ends or reports nothing in time.
     */
    ready,
    /** Pending while it runs, and for ever after `stop`. */
    exited: new Promise<ProcessExit>((resolve) => {
      void ended.then((exit) => isStopping || resolve(exit));
    }),
    /** Sends SIGTERM, and SIGKILL to what has not ended in time. */
    async stop(): Promise<void> {
      isStopping = true;
      child.kill('SIGTERM');
      const timer = new AbortController();
      await Promise.race([ended, delay(stopTimeoutMs, timer.signal)]);
      timer.abort();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** @param onLate called for a process that reports nothing in time; its end is awaited elsewhere */
async function readReadyUrl(
  { stdout }: ChildProcess,
  timeoutMs: number,
  onLate: () => void,
): Promise<string> {
  if (!stdout) throw new Error('the child has no standard output');
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const [line] = await once(createInterface({ input: stdout }), 'line', { signal });
    return readyLine.parse(JSON.parse(line)).url;
  } catch (error) {
    if (!signal.aborted) throw error;
    onLate();
    return new Promise(() => undefined);
  } finally {
    // Later output is discarded, so that it does not fill the pipe.
    stdout.resume();
  }
}

/** @returns how it ended, as the rest of a sentence about it */
function describeEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(`ended unexpectedly (${signal ?? `exit code ${code}`})`),
    );
  });
}

function tail(path: string): string {
  if (!existsSync(path)) return '(the log was deleted)';
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}

/** The pause before a restart doubles with each exit. A run of a minute resets it. */
const PAUSE_MS = { least: 500, most: 30_000 };
const LONG_RUN_MS = 60_000;

/**
 * Starts a part, and restarts it after each exit. A failed first start is not repeated: its cause is a
 * setting that only the user can correct.
 *
 * @param startAt starts the part; from the second time on with the address that it had first
 * @param ending aborts when the whole stack ends; then nothing is started again
 * @param onRestart gets one sentence for each exit, and one for each restart that succeeded
 * @returns the first start's address, and what ends the part
 */
export function keepRunning(options: {
  name: string;
  startAt: (url?: string) => Child;
  ending: AbortSignal;
  onRestart: (sentence: string) => void;
}): { ready: Promise<string>; stop(): Promise<void> } {
  const { name, startAt, onRestart } = options;
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, options.ending]);
  let child = startAt();
  const { ready } = child;

  async function supervise(url: string): Promise<void> {
    let nextPauseMs = PAUSE_MS.least;
    for (;;) {
      const startedMs = performance.now();
      const { how } = await child.exited;
      if (signal.aborted) return;
      if (performance.now() - startedMs >= LONG_RUN_MS) nextPauseMs = PAUSE_MS.least;
      onRestart(`The ${name} ${how} and starts again in ${nextPauseMs / 1_000} s.`);
      await delay(nextPauseMs, signal);
      if (signal.aborted) return;
      nextPauseMs = Math.min(2 * nextPauseMs, PAUSE_MS.most);
      child = startAt(url);
      void announce(child);
    }
  }

  async function announce(restarted: Child): Promise<void> {
    try {
      await restarted.ready;
    } catch {
      // It ended before it was ready: `supervise` reports that and starts the next.
      return;
    }
    onRestart(`The ${name} runs again.`);
  }

  // The caller gets the error of a first start through `ready`.
  void ready.then(supervise, () => undefined);
  return {
    ready,
    async stop() {
      stopping.abort();
      await child.stop();
    },
  };
}
