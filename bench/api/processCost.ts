import { readdirSync, readFileSync } from 'node:fs';
import { createPool } from '../../runtime/postgres.ts';

/** What the processes that serve requests have used so far. */
export interface ProcessCost {
  apiCpuSeconds: number;
  /** Undefined where there is no /proc to read it from. */
  databaseCpuSeconds: number | undefined;
  apiMemoryBytes: number;
  apiHeapBytes: number;
}

/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Reads the API's own metrics, and of each process of the database what the system tells. */
export async function createCostReading(options: {
  metricsUrl: string;
  databaseUrl: string;
}): Promise<() => Promise<ProcessCost>> {
  const { metricsUrl, databaseUrl } = options;
  const server = await serverProcess(databaseUrl);
  return async () => {
    const page = await (await fetch(metricsUrl)).text();
    const sample = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
    return {
      apiCpuSeconds: sample('process_cpu_seconds_total'),
      databaseCpuSeconds: server && childrenCpuSeconds(server),
      apiMemoryBytes: sample('process_resident_memory_bytes'),
      apiHeapBytes: sample('nodejs_heap_size_used_bytes'),
    };
  };
}

/** The process id of the database server: the parent of whichever process serves us. */
async function serverProcess(databaseUrl: string): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1 });
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const parent = rows[0] && statOf(rows[0].pid).parent;
  await pool.end();
  return parent;
}

function childrenCpuSeconds(parent: number): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = processes
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat.parent === parent);
  return children.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/** See proc(5): the fields behind the name, which may hold anything. */
function statOf(pid: number): { parent: number; cpuSeconds: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0] = [fields[1], fields[11], fields[12]];
    return { parent, cpuSeconds: (user + system) / TICKS_PER_SECOND };
  } catch {
    // It has ended meanwhile.
    return { parent: 0, cpuSeconds: 0 };
  }
}
