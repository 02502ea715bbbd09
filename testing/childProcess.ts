import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A process of the product, started as an operator would. */
export interface StartedProcess {
  url: string;
  id: number;
  /** Its exit code, once it has ended; null when a signal ended it. */
  exited: Promise<number | null>;
  /** What it wrote to its standard error so far. */
  logged(): string;
  /** Sends it a signal and does not wait. */
  signal(name: NodeJS.Signals): void;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
  /** Terminates it, like a supervisor. @returns its exit code */
  terminate(): Promise<number | null>;
}

/** The checkout that the tests belong to. */
export const PROJECT_FOLDER = fileURLToPath(new URL('..', import.meta.url));
/** What `svc` runs. */
export const SVC_MAIN = join(PROJECT_FOLDER, 'cli/main.ts');

/** All that a process of the product gets from the machine's environment: its settings come alone. */
export const MACHINE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/**
 * Starts `main` (a path below the project's root) and waits until it reports that it is ready.
 *
 * @param folder another checkout or image whose process it is
 * @throws Error with its output when it ends before
 */
export async function startProcess(
  main: string,
  environment: Record<string, string>,
  folder: string = PROJECT_FOLDER,
): Promise<StartedProcess> {
  const child = spawn(process.execPath, [join(folder, main)], {
    cwd: folder,
    env: { ...MACHINE_ENVIRONMENT, SVC_PARENT_PID: String(process.pid), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      resolve((JSON.parse(line) as { url: string }).url);
    });
    child.once('exit', (code) => reject(new Error(`${main} ended (${code}): ${errors.join('')}`)));
  });
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  return {
    url,
    id: child.pid as number,
    exited,
    logged: () => errors.join(''),
    signal,
    async kill() {
      signal('SIGKILL');
      await exited;
    },
    terminate() {
      signal('SIGTERM');
      return exited;
    },
  };
}
