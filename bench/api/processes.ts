import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createPool } from '../../common/postgres.ts';

/** The application name of the stubbed indexer's connections. */
export const MIRRORING = 'bench-mirror';
/** Where the stubbed ledger announces settled jobs to it. */
export const SETTLED = 'bench_settled';
/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

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
  const server = own[0] && statOf(own[0].pid).parent;
  await pool.end();
  return server === undefined ? undefined : { server, mirroring: mirroring.map(({ pid }) => pid) };
}

/** The processes of connections and of the server, without those of the stubbed indexer. */
function listServing({ server, mirroring }: DatabaseProcesses): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid).parent === server && !mirroring.includes(pid));
}

/** The time of all processes that serve connections, including ended ones. */
function cpuSecondsOf(database: DatabaseProcesses): number {
  return listServing(database).reduce(
    (sum, pid) => sum + statOf(pid).cpuSeconds,
    statOf(database.server).endedCpuSeconds,
  );
}

/** See proc(5): the fields behind the name, which may hold anything. */
function statOf(pid: number): { parent: number; cpuSeconds: number; endedCpuSeconds: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0] = [fields[1], fields[11], fields[12]];
    const [endedUser = 0, endedSystem = 0] = [fields[13], fields[14]];
    return {
      parent,
      cpuSeconds: (user + system) / TICKS_PER_SECOND,
      endedCpuSeconds: (endedUser + endedSystem) / TICKS_PER_SECOND,
    };
  } catch {
    // The process has just ended.
    return { parent: 0, cpuSeconds: 0, endedCpuSeconds: 0 };
  }
}

/** The resources that a serving process and the database have used. */
export interface ProcessCost {
  cpuSeconds: number;
  /** Without the stubbed indexer's work; undefined without /proc. */
  databaseCpuSeconds: number | undefined;
  memoryBytes: number;
  heapBytes: number;
}

/** Reads a process's use from its metrics, and the database's from the system. */
export function createCostReading(
  database: DatabaseProcesses | undefined,
): (metricsUrl: string) => Promise<ProcessCost> {
  return async (metricsUrl) => {
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

/** Assigns the processes of the benchmark to processors. */
interface Processors {
  isDivided: boolean;
  /** Gives the measured process its own processor. */
  measure(processIds: readonly number[], database: DatabaseProcesses | undefined): void;
}

/**
 * Divides two processors with Linux's `taskset`: the measured server and its database get one, and
 * clients, workers and the ledger the other. Otherwise processes evict each other's caches, and the
 * requests that one processor serves follow only from the used time. Call it before any start, because
 * children inherit the processor of their parent.
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
