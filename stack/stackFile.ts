import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keepSecret } from './keepSecret.ts';

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
