import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes a file that only its owner may read. A process that is killed during the write leaves no
 * partial file under this name.
 */
export async function writeSecret(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.tmp`;
  // The mode applies only to a new file.
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, path);
}

/** The folder for a running stack's description and logs, in the folder of its start. */
export const STACK_FOLDER = '.svc';

/** The addresses and keys of a running stack. */
export interface StackDescription {
  /** The service root; paths begin with /v1. */
  baseUrl: string;
  apiKey: string;
  model: string;
  rpcUrl: string;
  wsUrl: string;
  programId: string;
  databaseUrl: string;
  /** Opens the secrets that are sealed in the database. */
  secretsKey: string;
  wallet: string;
  /** The web app; null where its pages could not be built. */
  consoleUrl: string | null;
  pid: number;
}

const pathIn = (folder: string) => join(folder, 'stack.json');

/** Writes the description, which contains the API key. */
export async function writeStackFile(folder: string, stack: StackDescription): Promise<void> {
  await writeSecret(pathIn(folder), `${JSON.stringify(stack, null, 2)}\n`);
}

/** @returns undefined without a description in the folder */
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

/** Prints one line of progress to the terminal. */
export type Report = (what: string, detail: string) => void;

const COLUMN = 10;

/** @param write takes a finished line */
export function createProgress(write: (line: string) => void): Report {
  const startMs = performance.now();
  return (what, detail) => {
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1).padStart(5);
    write(`${seconds} s  ${what.padEnd(COLUMN)}${detail}`);
  };
}

const REST = `Everything else is in ${STACK_FOLDER}/stack.json. Ctrl-C ends everything.`;

/** The last lines of a start that no worker was ready for. @param reason why, in sentences */
export function describeWaiting(reason: string): string {
  return `
No worker takes jobs yet, and requests get 503. ${reason}

How to try it follows here once one does. ${REST}
`;
}

/** The last lines of a start: a working request, and how to stop. */
export function describeRunning(stack: StackDescription): string {
  const { baseUrl, apiKey, model, consoleUrl } = stack;
  const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
  return `
Try it:

curl -s ${baseUrl}/v1/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

${consoleUrl === null ? '' : `The web app: ${consoleUrl}\n\n`}${REST}
`;
}
