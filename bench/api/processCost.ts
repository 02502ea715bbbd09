import { readdirSync, readFileSync } from 'node:fs';
import { createPool } from '../../runtime/postgres.ts';

/** What a process that serves requests has used so far, and the database. */
export interface ProcessCost {
  cpuSeconds: number;
  /** Without what the doubled indexer has it do; undefined where there is no /proc to read. */
  databaseCpuSeconds: number | undefined;
  memoryBytes: number;
  heapBytes: number;
}

/** What the doubled indexer's connections are named. */
export const MIRRORING = 'bench-mirror';
/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Reads of a process what its metrics tell, and of each of the database's what the system does. */
export async function createCostReading(
  databaseUrl: string,
): Promise<(metricsUrl: string) => Promise<ProcessCost>> {
  const database = await findDatabase(databaseUrl);
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

/** Process ids of the database. */
interface DatabaseProcesses {
  /** The parent of every process that serves a connection. */
  server: number;
  /** Those that serve the doubled indexer. */
  mirroring: number[];
}

async function findDatabase(databaseUrl: string): Promise<DatabaseProcesses | undefined> {
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

/** Of those that serve connections, the ended ones included. */
function cpuSecondsOf({ server, mirroring }: DatabaseProcesses): number {
  const serving = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...statOf(Number(name)) }))
    .filter(({ pid, parent }) => parent === server && !mirroring.includes(pid));
  return serving.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, statOf(server).endedCpuSeconds);
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
