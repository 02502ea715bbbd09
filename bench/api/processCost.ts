import { cpuSecondsOf, type DatabaseProcesses } from './databaseProcesses.ts';

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
