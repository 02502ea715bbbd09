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
 * Waits until a process's `/ready` answers 200. A failed request is repeated: `onDeath` reports the
 * death of a process.
 *
 * @throws StackError at the time-out
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
      // The error reports its last answer, not this failure.
    }
    await delay(POLL_MS, signal);
  }
  throw new StackError(`The mirror does not catch up: ${state}`);
}

/** A process of the service. */
interface Child {
  /**
   * Its address, once it reports that it is ready.
   *
   * @throws StackError with its last log lines when it ends or reports nothing in time
   */
  ready: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

/** Most parts need a second, but more on an overloaded machine. */
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const LAST_LINES = 12;

const readyLine = z.object({ ready: z.literal(true), url: z.string() });

/**
 * Starts `<project>/<script>` with its log in `<logFolder>/<name>.log`.
 *
 * @param environment all of its settings; secrets are passed only here
 * @param onDeath called when the process dies after it was ready
 */
export function startChild(options: {
  name: string;
  script: string;
  environment: NodeJS.ProcessEnv;
  logFolder: string;
  onDeath: (error: StackError) => void;
}): Child {
  const { name, script, environment, logFolder, onDeath } = options;
  const logPath = join(logFolder, `${name}.log`);
  const log = openSync(logPath, 'w', 0o600);
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../${script}`, import.meta.url))], {
    env: { ...environment, SVC_PARENT_PID: `${process.pid}` },
    stdio: ['ignore', 'pipe', log],
    // Its own process group: Ctrl-C reaches only the stack, which ends everything in order.
    detached: true,
  });
  closeSync(log);
  let isStopping = false;
  const failure = (reason: string) =>
    new StackError(`The ${name} ${reason}. Its last lines (${logPath}):\n${tail(logPath)}`);
  const ended = describeEnd(child).then(failure);
  const failed = ended.then((error): never => {
    throw error;
  });
  const timeoutError = () => failure(`was not ready after ${READY_TIMEOUT_MS / 1_000} seconds`);
  const ready = Promise.race([readReadyUrl(child, timeoutError), failed]);
  ready.then(
    () => ended.then((error) => isStopping || onDeath(error)),
    // The caller gets the error through `ready`.
    () => {},
  );
  return {
    ready,
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      const timer = new AbortController();
      await Promise.race([ended, delay(STOP_TIMEOUT_MS, timer.signal)]);
      timer.abort();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** @param timeoutError makes the error for a process that reports nothing in time */
async function readReadyUrl({ stdout }: ChildProcess, timeoutError: () => Error): Promise<string> {
  if (!stdout) throw new Error('the child has no standard output');
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  try {
    const [line] = await once(createInterface({ input: stdout }), 'line', { signal });
    return readyLine.parse(JSON.parse(line)).url;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw timeoutError();
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
