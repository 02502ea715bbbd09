import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { type DatabaseProcesses, listServing } from './databaseProcesses.ts';

const [MEASURED, REST] = ['0', '1'];

/** Which processor each process of the benchmark runs on. */
export interface Processors {
  isDivided: boolean;
  /** Gives what is measured a processor, apart from all that measures it. */
  measure(processIds: readonly number[], database: DatabaseProcesses | undefined): void;
}

/**
 * Divides the processors where there are two and Linux's `taskset`: what serves requests gets one,
 * with its database, and clients, workers and the ledger the other. Else whoever has something to do
 * takes another's caches, and what one processor serves can only be told by the time that was used.
 * To be called before anything is started, since children run where their parent does.
 */
export function divideProcessors(): Processors {
  const isDivided = process.platform === 'linux' && availableParallelism() > 1 && hasTaskset();
  if (isDivided) place(process.pid, REST);
  return {
    isDivided,
    measure(processIds, database) {
      if (!isDivided) return;
      for (const id of processIds) place(id, MEASURED);
      if (!database) return;
      // What the server starts from now on runs where it does.
      for (const id of [database.server, ...listServing(database)]) place(id, MEASURED);
    },
  };
}

/** With all its threads. */
function place(processId: number, processor: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', processor, String(processId)], { stdio: 'pipe' });
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
