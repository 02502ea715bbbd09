import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';

const started: ChildProcess[] = [];

/** Kills what the tests of a file have started. */
export function killStarted(): void {
  for (const { pid } of started.splice(0)) {
    try {
      // And what it has started itself.
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  }
}

/** Starts any command that runs a local ledger. */
export function launch(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(file, args, {
    env: { ...MACHINE_ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, as a terminal gives it.
    detached: true,
  });
  started.push(child);
  return child;
}

const run = (...args: string[]) => launch(process.execPath, [SVC_MAIN, 'localnet', ...args]);

/** @returns what it prints up to its last line */
export async function readStart(stream: NodeJS.ReadableStream): Promise<string> {
  let said = '';
  for await (const part of stream) {
    said += part;
    if (said.includes('Ctrl-C')) break;
  }
  return said;
}

/** A running `svc localnet`. @returns what it says of itself, once it is there */
export async function startLocalnet(...args: string[]) {
  const child = run('--port', '0', ...args);
  const errors = text(child.stderr);
  const said = await readStart(child.stdout);
  const read = (what: string) => new RegExp(`^${what} +(.+)$`, 'm').exec(said)?.[1] ?? '';
  return { child, said, errors, read, rpcUrl: read('JSON-RPC') };
}

/** `svc localnet --initialized`. @returns the JSON on its standard output */
export async function startPrinting(...args: string[]) {
  const child = run('--port', '0', '--initialized', ...args);
  const printed = text(child.stdout);
  const said = await readStart(child.stderr);
  return {
    said,
    /** Ends it. @returns all that it wrote to its standard output */
    async end(): Promise<string> {
      child.kill('SIGTERM');
      return printed;
    },
  };
}
