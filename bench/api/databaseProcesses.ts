import { readdirSync, readFileSync } from 'node:fs';
import { createPool } from '../../common/postgres.ts';

/** What the doubled indexer's connections are named. */
export const MIRRORING = 'bench-mirror';
/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Process ids of the database. */
export interface DatabaseProcesses {
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
export function listServing({ server, mirroring }: DatabaseProcesses): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid).parent === server && !mirroring.includes(pid));
}

/** Of those that serve connections, the ended ones included. */
export function cpuSecondsOf(database: DatabaseProcesses): number {
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
