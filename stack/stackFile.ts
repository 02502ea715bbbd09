import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes a file that only its owner may read, whole or not at all: what a process leaves that is
 * killed on the way is never taken for the file.
 */
export async function keepSecret(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.tmp`;
  // Its mode counts only where it is made anew.
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, path);
}

/** Where a running stack keeps its description and logs, in the folder it was started in. */
export const STACK_FOLDER = '.svc';

/** How to reach everything that a running stack started. */
export interface StackDescription {
  /** The service root; paths begin with /v1. */
  baseUrl: string;
  apiKey: string;
  model: string;
  rpcUrl: string;
  wsUrl: string;
  programId: string;
  databaseUrl: string;
  wallet: string;
  consoleUrl: string | null;
  pid: number;
}

const pathIn = (folder: string) => join(folder, 'stack.json');

/** Writes the description, which holds the key. */
export async function writeStackFile(folder: string, stack: StackDescription): Promise<void> {
  await keepSecret(pathIn(folder), `${JSON.stringify(stack, null, 2)}\n`);
}

/** @returns undefined when no stack has described itself there */
export function readStackFile(folder: string): StackDescription | undefined {
  try {
    return JSON.parse(readFileSync(pathIn(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes the description of a stack that has ended. */
export async function removeStackFile(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

/** Tells whoever waits at the terminal what is up, and since when. */
export type Say = (what: string, detail: string) => void;

const COLUMN = 10;

/** @param write takes a finished line */
export function createProgress(write: (line: string) => void): Say {
  const startMs = performance.now();
  return (what, detail) => {
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1).padStart(5);
    write(`${seconds} s  ${what.padEnd(COLUMN)}${detail}`);
  };
}

/** The last lines of a start: a request that works as it stands, and how to stop. */
export function describeRunning({ baseUrl, apiKey, model }: StackDescription): string {
  const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
  return `
Try it:

curl -s ${baseUrl}/v1/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

Everything else is in ${STACK_FOLDER}/stack.json. Ctrl-C ends everything.
`;
}
