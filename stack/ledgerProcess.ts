import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import { within } from '../runtime/wait.ts';
import { describeEnd } from './child.ts';

/** A process that has a ledger in it. */
export interface LedgerProcess {
  rpcUrl: string;
  wsUrl: string;
  /** Ends it at once; it keeps nothing. */
  close(): Promise<void>;
}

interface LedgerStart {
  /** Starts one, with pipes for its output and its errors. */
  spawnLedger: () => ChildProcess;
  /** The time each has to say that it is ready, in milliseconds. */
  timeoutMs: number;
  /** Called when it ends unasked, once it was ready. */
  onDeath: (error: Error) => void;
}

const ATTEMPTS = 3;
const LAST_WORDS_CHARACTERS = 2_000;
/** The ledger's words for ports that somebody else has, after which it waits for ever. */
const PORT_TAKEN = /port \d+ is already in use/;

const readyLine = z.object({ ready: z.literal(true), url: z.string(), wsUrl: z.string() });

/**
 * Starts a ledger's process, and another in its place when it ends or stays silent: each draws its
 * ports anew. It does not keep the calling process from ending.
 *
 * @throws Error with the last words of the third that does not come up
 */
export async function startLedgerProcess(options: LedgerStart): Promise<LedgerProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (attempt < ATTEMPTS) continue;
      const { message } = error as Error;
      const words = `The embedded ledger did not start in ${ATTEMPTS} attempts. The last ${message}`;
      throw new Error(words, { cause: error });
    }
  }
}

async function startOnce(options: LedgerStart): Promise<LedgerProcess> {
  const { spawnLedger, timeoutMs, onDeath } = options;
  const child = spawnLedger();
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('has no pipes');
  const lastWords = keepLastWords(stderr);
  const ended = describeEnd(child);
  const failed = ended.then(async (end): Promise<never> => {
    throw new Error(`${end}. ${await lastWords()}`);
  });
  let isClosing = false;

  async function close(): Promise<void> {
    isClosing = true;
    child.ref();
    child.kill('SIGKILL');
    await ended;
  }

  try {
    const said = Promise.race([readLine(stdout), failed, untilPortTaken(stderr)]);
    const line = await within(timeoutMs, said);
    if (line === undefined) {
      await close();
      const seconds = timeoutMs / 1_000;
      throw new Error(`did not become ready within ${seconds} seconds. ${await lastWords()}`);
    }
    const { url, wsUrl } = readReady(line);
    failed.catch(({ message }: Error) => {
      if (!isClosing) onDeath(new Error(`The embedded ledger ${message}`));
    });
    child.unref();
    for (const stream of [stdout, stderr]) if (stream instanceof Socket) stream.unref();
    return { rpcUrl: url, wsUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readLine(stdout: Readable): Promise<string> {
  const [line] = await once(createInterface({ input: stdout }), 'line');
  // What follows is of no interest, but must not fill the pipe.
  stdout.resume();
  return line;
}

/** Spares a blocked ledger's time; one that blocks without these words is only silent. */
function untilPortTaken(stderr: Readable): Promise<undefined> {
  const lines = createInterface({ input: stderr });
  return new Promise((resolve) => {
    lines.on('line', (line) => PORT_TAKEN.test(line) && resolve(undefined));
  });
}

function readReady(line: string): z.infer<typeof readyLine> {
  try {
    return readyLine.parse(JSON.parse(line));
  } catch (error) {
    throw new Error(`said something else than that it is ready: ${line}`, { cause: error });
  }
}

/** @returns what the stream said last, once it has ended */
function keepLastWords(stderr: Readable): () => Promise<string> {
  let words = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-LAST_WORDS_CHARACTERS);
  });
  const all = finished(stderr).catch(() => {});
  return async () => {
    await all;
    return `Its last words:\n${words.trim() || '(none)'}`;
  };
}
