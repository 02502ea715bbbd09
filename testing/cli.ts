import { Console } from 'node:console';
import type { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { runProgram } from '../cli/program.ts';
import { VERBS } from '../cli/verbs.ts';
import { MACHINE_ENVIRONMENT } from './childProcess.ts';

/** How a command ended, and what it wrote. */
export interface CliResult {
  code: number;
  output: string;
  error: string;
}

/** What a command listens to, which ends with a process of its own. */
const LISTENED_TO: readonly (readonly [emitter: EventEmitter, event: string])[] = [
  [process.stdout, 'error'],
  ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [process, signal] as const),
];

let isRunning = false;

/**
 * Runs `svc` in this process to its end, as a process of its own would. Not for commands that serve,
 * read standard input or answer signals.
 *
 * @param options.env its settings: nothing else of this process's environment reaches it
 * @param options.cwd by default this process's
 * @throws Error while another run has not ended, since both would have one environment
 */
export async function runCli(
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<CliResult> {
  if (isRunning) throw new Error('Another command runs in this process');
  isRunning = true;
  const output = collect();
  const error = collect();
  const putBack = keepProcess();
  try {
    process.chdir(cwd);
    process.env = { ...MACHINE_ENVIRONMENT, ...env };
    process.exitCode = undefined;
    globalThis.console = new Console(output.stream, error.stream);
    await runProgram(VERBS, {
      args,
      output: { writeOut: output.add, writeErr: error.add },
    });
    return { code: Number(process.exitCode ?? 0), output: output.text(), error: error.text() };
  } finally {
    putBack();
    isRunning = false;
  }
}

/** @returns puts back what a run changes */
function keepProcess(): () => void {
  const { env, exitCode } = process;
  const { console } = globalThis;
  const folder = process.cwd();
  const listeners = LISTENED_TO.map(([emitter, event]) => emitter.listeners(event));
  return () => {
    process.chdir(folder);
    process.env = env;
    process.exitCode = exitCode;
    globalThis.console = console;
    for (const [index, [emitter, event]] of LISTENED_TO.entries()) {
      for (const listener of emitter.listeners(event)) {
        if (!listeners[index]?.includes(listener)) emitter.off(event, listener as () => void);
      }
    }
  };
}

function collect() {
  const parts: string[] = [];
  const add = (part: string): void => void parts.push(part);
  const stream = new Writable({
    write(part, _encoding, then) {
      add(String(part));
      then();
    },
  });
  return { add, stream, text: () => parts.join('') };
}
