import { execFileSync, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createPool } from '../../common/postgres.ts';
import { listProcesses, statOf } from '../processes.ts';
import type { MeteredTarget } from './service.ts';

/** The application name of the stubbed indexer's connections. */
export const MIRRORING = 'bench-mirror';
/** Where the stubbed ledger announces settled jobs to it. */
export const SETTLED = 'bench_settled';

/** Process ids of the database. */
interface DatabaseProcesses {
  /** The parent of every process that serves a connection. */
  server: number;
  /** The processes that serve the stubbed indexer. */
  mirroring: number[];
}

/** @returns undefined without /proc */
export async function findDatabase(databaseUrl: string): Promise<DatabaseProcesses | undefined> {
  if (process.platform !== 'linux') return undefined;
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1 });
  const { rows: own } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { rows: mirroring } = await pool.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name = $1',
    [MIRRORING],
  );
  // Read before the connection and its process end.
  const server = own[0] && statOf(own[0].pid)?.parent;
  await pool.end();
  return server === undefined ? undefined : { server, mirroring: mirroring.map(({ pid }) => pid) };
}

/** The processes of connections and of the server, without those of the stubbed indexer. */
function listServing({ server, mirroring }: DatabaseProcesses): number[] {
  return listProcesses().filter(
    (pid) => statOf(pid)?.parent === server && !mirroring.includes(pid),
  );
}

/** The time of all processes that serve connections, including ended ones. */
function cpuSecondsOf(database: DatabaseProcesses): number {
  return listServing(database).reduce(
    (sum, pid) => sum + (statOf(pid)?.cpuSeconds ?? 0),
    statOf(database.server)?.endedCpuSeconds ?? 0,
  );
}

/** The resources that a serving process and the database have used. */
export interface ProcessCost {
  cpuSeconds: number;
  /** Without the stubbed indexer's work; undefined without /proc. */
  databaseCpuSeconds: number | undefined;
  memoryBytes: number;
  heapBytes: number;
}

/** Reads a process's use from its metrics or from the system, and the database's from the system. */
export function createCostReading(
  database: DatabaseProcesses | undefined,
): (target: MeteredTarget) => Promise<ProcessCost> {
  return async (target) => {
    if ('pid' in target) {
      const { cpuSeconds = 0, residentBytes = 0 } = statOf(target.pid) ?? {};
      return { cpuSeconds, databaseCpuSeconds: 0, memoryBytes: residentBytes, heapBytes: 0 };
    }
    const { metricsUrl } = target;
    const page = await (await fetch(metricsUrl)).text();
    const sample = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
    return {
      cpuSeconds: sample('process_cpu_seconds_total'),
      databaseCpuSeconds: database && cpuSecondsOf(database),
      memoryBytes: sample('process_resident_memory_bytes'),
      heapBytes: sample('nodejs_heap_size_used_bytes'),
    };
  };
}

const [MEASURED, REST] = ['0', '1'];

/**
 * Divides two processors with Linux's `taskset`: the measured server and its database get one, and
 * clients, workers and the ledger the other. Otherwise processes evict each other's caches, and the
 * requests that one processor serves follow only from the used time. Call it before any start, because
 * children inherit the processor of their parent.
 */
export function divideProcessors() {
  const isDivided = process.platform === 'linux' && availableParallelism() > 1 && hasTaskset();
  if (isDivided) place(process.pid, REST);
  return {
    isDivided,
    /** Gives the measured process its own processor. */
    measure(processIds: readonly number[], database: DatabaseProcesses | undefined): void {
      if (!isDivided) return;
      for (const id of processIds) place(id, MEASURED);
      if (!database) return;
      // Later child processes inherit the processor.
      for (const id of [database.server, ...listServing(database)]) place(id, MEASURED);
    },
  };
}

/** Moves a process with all its threads. */
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

/** A loop that ends with its parent process. */
const BUSY_LOOP = 'while kill -0 "$PPID" 2>/dev/null; do :; done';

/**
 * Runs a loop of the lowest priority on each processor. An idle processor sleeps, a virtual one
 * returns to its host, and a single client wakes it many times a request. Needs Linux's `chrt` and
 * `taskset`.
 *
 * @returns ends the loops
 */
export function keepProcessorsAwake(): () => void {
  const loops = Array.from({ length: availableParallelism() }, (_, processor) => {
    const command = ['--idle', '0', 'taskset', '-c', String(processor), 'sh', '-c', BUSY_LOOP];
    return spawn('chrt', command, { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  return () => {
    for (const loop of loops) loop.kill();
  };
}
