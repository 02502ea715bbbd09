import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import OpenAI from 'openai';
import { findFreePort } from '../../stack/port.ts';
import { readStackFile, type StackDescription } from '../../stack/stackFile.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { until } from '../../testing/until.ts';

/** A folder in which stacks are started, as a fresh checkout would be, and what they leave there. */
export interface Workplace {
  folder: string;
  port: number;
  /** What runs below the launcher `npm start` calls, with its output so far. */
  start(environment?: Record<string, string>): StartedStack;
  /** Ids of all processes that were started here and live, with their command lines. */
  processes(): { id: number; command: string }[];
  /** Kills every process with these words in its command line. @throws Error where none has them */
  kill(words: string): void;
  /** Kills everything but PostgreSQL. @returns the ids of its processes */
  killAllButPostgres(): Promise<number[]>;
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
  /** Sends a signal, SIGTERM by default, and expects exit code 0. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const launcher = fileURLToPath(new URL('../../stack/launch.mjs', import.meta.url));

/** Linux only: elsewhere the environment of another process, which marks children, is hidden. */
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
    kill(words) {
      const found = processes().filter(({ command }) => command.includes(words));
      if (found.length === 0) throw new Error(`no process runs ${words}`);
      for (const { id } of found) process.kill(id, 'SIGKILL');
    },
    async killAllButPostgres() {
      // Those of the server itself have other titles than its first one.
      const isPostgres = ({ command }: { command: string }) => command.includes('postgres');
      for (const { id, command } of processes()) {
        if (!command.includes('/bin/postgres')) process.kill(id, 'SIGKILL');
      }
      await until(() => processes().every(isPostgres));
      return processes().map(({ id }) => id);
    },
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
        async stop(signal = 'SIGTERM') {
          child.kill(signal);
          const exitCode = await exited;
          // The output says why, should it be another code.
          expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
        },
        async running() {
          await until(() => child.exitCode !== null || output.includes('Ctrl-C'));
          // What an earlier start left may still be there.
          const stack = child.exitCode === null && readStackFile(join(folder, '.svc'));
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

/** What a client of the official library keeps of a settled job. */
export interface Received {
  readonly job: string;
  readonly text: string;
  readonly receipt: string;
}

/** Completes one job with the stack's own API key. */
export async function complete(
  { baseUrl, apiKey, model }: StackDescription,
  { as = apiKey, from = model }: { readonly as?: string; readonly from?: string } = {},
): Promise<Received> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: as });
  const { data, response } = await client.chat.completions
    .create({
      model: from,
      max_tokens: 24,
      messages: [{ role: 'user', content: 'Say hello.' }],
    })
    .withResponse();
  const text = data.choices[0]?.message.content ?? '';
  expect(text).not.toBe('');
  expect(response.headers.get('x-svc-settlement-tx')).not.toBeNull();
  return {
    text,
    job: response.headers.get('x-svc-job-id') ?? '',
    receipt: response.headers.get('x-svc-delivery-receipt') ?? '',
  };
}

/** Reads from `/v1` with the stack's own API key. */
export async function readFrom<Body>(
  { baseUrl, apiKey }: StackDescription,
  path: string,
): Promise<Body> {
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

/** Empty for what is gone, or is not ours to see. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
