import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A process of the product, started as an operator would. */
export interface StartedProcess {
  url: string;
  /** At once, as a crash would end it. */
  kill(): Promise<void>;
  /** As a supervisor would end it. @returns its exit code */
  terminate(): Promise<number | null>;
}

/**
 * Starts `main` (a path below the project's root) and waits until it says that it is ready.
 *
 * @throws Error with what it wrote when it ends before
 */
export async function startProcess(
  main: string,
  environment: Record<string, string>,
): Promise<StartedProcess> {
  const path = fileURLToPath(new URL(`../../${main}`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { PATH: process.env.PATH, SVC_PARENT_PID: String(process.pid), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      resolve((JSON.parse(line) as { url: string }).url);
    });
    child.once('exit', (code) => reject(new Error(`${main} ended (${code}): ${errors.join('')}`)));
  });
  return {
    url,
    kill: async () => void (await end(child, 'SIGKILL')),
    terminate: () => end(child, 'SIGTERM'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  return child.exitCode;
}
