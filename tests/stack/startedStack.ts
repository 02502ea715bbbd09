import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { delay } from '../../common/wait.ts';
import { findFreePort } from '../../stack/port.ts';
import { readStackFile, type StackDescription } from '../../stack/stackFile.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';

const WAIT_MS_MAX = 240_000;
const POLL_MS = 50;

/** A folder in which stacks are started, as a fresh checkout would be, and what they leave there. */
export interface Workplace {
  folder: string;
  port: number;
  /** What runs below the launcher `npm start` calls, with its output so far. */
  start(environment?: Record<string, string>): StartedStack;
  /** Ids of all processes that were started here and live, with their command lines. */
  processes(): { id: number; command: string }[];
  untilNoProcess(): Promise<void>;
  /** All files below, except logs. */
  files(): string[];
  /** Runs a shell command here. @returns its standard output */
  run(command: string): Promise<string>;
  /** Kills what is still there, and deletes the folder. */
  close(): Promise<void>;
}

export interface StartedStack {
  process: ChildProcess;
  output(): string;
  /** Until it has described itself. @throws Error with its output when it ends before */
  running(): Promise<StackDescription>;
  exitCode(): Promise<number | null>;
}

const launcher = fileURLToPath(new URL('../../stack/launch.mjs', import.meta.url));

/** Linux only: elsewhere another process's environment, by which children are told, is hidden. */
export async function createWorkplace(): Promise<Workplace> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-workplace-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  // The database's own user must be able to get there.
  for (const path of [folder, temporary]) chmodSync(path, 0o755);
  const port = await findFreePort();
  const environment = { ...MACHINE_ENVIRONMENT, TMPDIR: temporary, PORT: `${port}` };
  /** Every process that is started here passes it on, and no other has it. */
  const tag = `TMPDIR=${temporary}`;

  const processes = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/environ`).includes(tag))
      .map((name) => ({
        id: Number(name),
        command: read(`/proc/${name}/cmdline`).replaceAll('\0', ' '),
      }))
      // A process that has ended and was not yet waited for has no command line.
      .filter(({ command }) => command !== '');

  return {
    folder,
    port,
    processes,
    start(more = {}) {
      const child = spawn(process.execPath, [launcher], {
        cwd: folder,
        env: { ...environment, ...more },
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          output += chunk;
        });
      }
      const exited = once(child, 'close').then(([code]) => code as number | null);
      return {
        process: child,
        output: () => output,
        exitCode: () => exited,
        async running() {
          await until(() => child.exitCode !== null || output.includes('Ctrl-C'));
          const stack = readStackFile(join(folder, '.svc'));
          if (!stack) throw new Error(`the stack did not start: ${output}`);
          return stack;
        },
      };
    },
    untilNoProcess: () => until(() => processes().length === 0),
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.log'))
        .map((entry) => join(entry.parentPath, entry.name)),
    async run(command) {
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder });
      return stdout;
    },
    async close() {
      for (const { id } of processes()) process.kill(id, 'SIGKILL');
      await until(() => processes().length === 0);
      rmSync(folder, { recursive: true });
    },
  };
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('Gave up waiting');
    await delay(POLL_MS);
  }
}

/** Empty for what is gone, or is not ours to see. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
