import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import OpenAI from 'openai';
import { findFreePort } from '../../stack/port.ts';
import { readStackFile, type StackDescription } from '../../stack/stackFile.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { runScript } from '../../testing/machine/shell.ts';
import { until } from '../../testing/until.ts';

const launcher = fileURLToPath(new URL('../../stack/launch.mjs', import.meta.url));

/** A folder in which stacks are started, as a fresh checkout would be, and what they leave there. */
export type Workplace = Awaited<ReturnType<typeof createWorkplace>>;
export type StartedStack = ReturnType<Workplace['start']>;

/** Linux only: elsewhere the environment of another process, which marks children, is hidden. */
export async function createWorkplace() {
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
    /** Ids of all processes that were started here and live, with their command lines. */
    processes,
    /** Kills every process with these words in its command line. @throws Error where none has them */
    kill(words: string): void {
      const found = processes().filter(({ command }) => command.includes(words));
      if (found.length === 0) throw new Error(`no process runs ${words}`);
      for (const { id } of found) process.kill(id, 'SIGKILL');
    },
    /** @returns the ids of PostgreSQL's processes */
    async killAllButPostgres(): Promise<number[]> {
      // Those of the server itself have other titles than its first one.
      const isPostgres = ({ command }: { command: string }) => command.includes('postgres');
      for (const { id, command } of processes()) {
        if (!command.includes('/bin/postgres')) process.kill(id, 'SIGKILL');
      }
      await until(() => processes().every(isPostgres));
      return processes().map(({ id }) => id);
    },
    /** What runs below the launcher `npm start` calls, with its output so far. */
    start(more: Record<string, string> = {}) {
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
        /** Sends a signal, and expects exit code 0. */
        async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
          child.kill(signal);
          const exitCode = await exited;
          // The output says why, should it be another code.
          expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
        },
        /** Until it has described itself. @throws Error with its output when it ends before */
        async running(): Promise<StackDescription> {
          await until(() => child.exitCode !== null || output.includes('Ctrl-C'));
          // What an earlier start left may still be there.
          const stack = child.exitCode === null && readStackFile(join(folder, '.svc'));
          if (!stack) throw new Error(`the stack did not start: ${output}`);
          return stack;
        },
      };
    },
    untilNoProcess: () => until(() => processes().length === 0),
    /** All files below, except logs. */
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.log'))
        .map((entry) => join(entry.parentPath, entry.name)),
    /** Runs a shell command here. @returns its standard output */
    async run(command: string): Promise<string> {
      return runScript(command, { cwd: folder, env: process.env });
    },
    /** Kills what is still there, and deletes the folder. */
    async close(): Promise<void> {
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
