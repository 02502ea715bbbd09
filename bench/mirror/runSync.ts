import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SyncProgress } from './sync.ts';

/**
 * Enough for any length of history, so that what grew with it would end here. Both are set, since a
 * young generation that outgrows a small old one makes the collector run all the time.
 */
const HEAP_FLAGS = ['--max-old-space-size=48', '--max-semi-space-size=4', '--expose-gc'];

/** A history to be mirrored from its beginning. */
export interface History {
  /** About. */
  readonly events: number;
  /** Where it is; without it, it is synthetic. */
  readonly rpcUrl?: string;
}

/**
 * Makes a first sync in a process of its own, and has it checked against the journal.
 *
 * @returns what it took until each tenth, and until the end
 * @throws Error when the mirror is not complete, or the process ended by itself
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
