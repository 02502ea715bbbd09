import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SyncProgress } from './sync.ts';

/**
 * Enough for a history of any length: memory that grew with it would exceed this. Both are set,
 * because a young generation larger than a small old one makes the collector run all the time.
 */
const HEAP_FLAGS = ['--max-old-space-size=48', '--max-semi-space-size=4', '--expose-gc'];

/** A history for a first sync. */
export interface History {
  /** Its approximate number. */
  readonly events: number;
  /** The node with the history; a synthetic one without it. */
  readonly rpcUrl?: string;
}

/**
 * Runs a first sync in its own process, and checks it against the journal.
 *
 * @returns a measurement at each tenth and at the end
 * @throws Error when the mirror is incomplete or the process died
 */
export async function runSync(databaseUrl: string, history: History): Promise<SyncProgress[]> {
  const { events, rpcUrl } = history;
  const script = fileURLToPath(new URL('./sync.ts', import.meta.url));
  const words = [script, databaseUrl, String(events), ...(rpcUrl === undefined ? [] : [rpcUrl])];
  const child = spawn(process.execPath, [...HEAP_FLAGS, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const progress: SyncProgress[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    progress.push(JSON.parse(line) as SyncProgress);
    console.error(line);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`The sync of ${events} events ended with ${code}`);
  return progress;
}
