import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createPool } from '../../common/postgres.ts';

/** What the doubled indexer's connections are named. */
export const MIRRORING = 'bench-mirror';
/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Process ids of the database. */
interface DatabaseProcesses {
  /** The parent of every process that serves a connection. */
  server: number;
  /** Those that serve the doubled indexer. */
  mirroring: number[];
}

/** Undefined where there is no /proc to read. */
export async function findDatabase(databaseUrl: string): Promise<DatabaseProcesses | undefined> {
  if (process.platform !== 'linux') return undefined;
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1 });
  const { rows: own } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { rows: mirroring } = await pool.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name = $1',
    [MIRRORING],
  );
  // Before the connection ends, and its process with it.
  const server = own[0] && statOf(own[0].pid).parent;
  await pool.end();
  return server === undefined ? undefined : { server, mirroring: mirroring.map(({ pid }) => pid) };
}

/** Those that serve connections, but for the doubled indexer's, and the server's own helpers. */
function listServing({ server, mirroring }: DatabaseProcesses): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid).parent === server && !mirroring.includes(pid));
}

/** Of those that serve connections, the ended ones included. */
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
    // It has ended meanwhile.
    return { parent: 0, cpuSeconds: 0, endedCpuSeconds: 0 };
  }
}

/** What a process that serves requests has used so far, and the database. */
export interface ProcessCost {
  cpuSeconds: number;
  /** Without what the doubled indexer has it do; undefined where there is no /proc to read. */
  databaseCpuSeconds: number | undefined;
  memoryBytes: number;
  heapBytes: number;
}

/** Reads of a process what its metrics tell, and of each of the database's what the system does. */
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

/** Which processor each process of the benchmark runs on. */
interface Processors {
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
