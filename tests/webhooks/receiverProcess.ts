import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import type { Received } from '../../testing/indexer/receiver.ts';
import { until } from '../../testing/until.ts';

/** A receiver, or a shell that starts one, with what it has printed so far. */
export interface ReceiverProcess {
  /** Waits for it. @returns the match */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** How often it has printed this. */
  count(text: string): number;
  /** Types a command, when it is a shell. */
  enter(command: string): void;
  /** Ends it, and what it started. */
  kill(): Promise<void>;
}

/** @throws Error with what it printed, from then on, when it ends by itself */
export function startReceiverProcess(
  [command, ...args]: readonly [string, ...string[]],
  options: { folder: string; environment: Record<string, string> },
): ReceiverProcess {
  const { folder, environment } = options;
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...MACHINE_ENVIRONMENT, ...environment },
    // A group of its own, which ends with it.
    detached: true,
  });
  const exited = once(child, 'exit');
  let printed = '';
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk) => {
      printed += chunk;
    });
  }
  return {
    async untilPrinted(pattern) {
      let found: RegExpExecArray | null = null;
      await until(() => {
        found = pattern.exec(printed);
        if (!found && child.exitCode !== null) throw new Error(`${command} ended: ${printed}`);
        return found !== null;
      });
      return found as unknown as RegExpExecArray;
    },
    count: (text) => printed.split(text).length - 1,
    enter: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL');
      await exited;
    },
  };
}

/** Where each kind of receiver says that it listens: uvicorn in a line, express by its address. */
const LISTENING = /(?:running on http:\/\/127\.0\.0\.1:|port: )(\d+)/;

/** A receiver that listens. */
export interface ListeningReceiver extends ReceiverProcess {
  /** Sends it a delivery as the service does. @returns its status */
  deliver(delivery: Pick<Received, 'body'> & { headers: object }): Promise<number>;
}

export async function startListening(
  ...start: Parameters<typeof startReceiverProcess>
): Promise<ListeningReceiver> {
  const receiver = startReceiverProcess(...start);
  const [, port] = await receiver.untilPrinted(LISTENING);
  return {
    ...receiver,
    async deliver({ headers, body }) {
      const signed = Object.entries(headers).filter(([name]) =>
        /^(svc|webhook|content-type)/i.test(name),
      );
      const response = await fetch(`http://127.0.0.1:${port}/webhooks`, {
        method: 'POST',
        headers: Object.fromEntries(signed),
        body,
      });
      return response.status;
    },
  };
}
