import { readdirSync, readFileSync } from 'node:fs';
import { createLogger } from '../common/logger.ts';
import { createShutdown, type Shutdown } from '../common/shutdown.ts';

/** Ends what a measurement has started, also on a signal. */
export function createBenchShutdown(): Shutdown {
  const logger = createLogger({ name: 'bench', level: 'error' });
  const shutdown = createShutdown({ logger, timeoutMs: 60_000 });
  shutdown.onSignals();
  return shutdown;
}

/** Linux counts time in hundredths of a second, and memory in pages. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

/** The ids of all processes of this machine, by /proc. */
export function listProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A process's parent, use and command line. @returns undefined once it has ended */
export function statOf(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // See proc(5): the fields behind the name, which may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const at = (place: number): number => fields[place] ?? 0;
    return {
      parent: at(1),
      cpuSeconds: (at(11) + at(12)) / TICKS_PER_SECOND,
      /** Of its children that have ended. */
      endedCpuSeconds: (at(13) + at(14)) / TICKS_PER_SECOND,
      residentBytes: at(21) * PAGE_BYTES,
      commandLine: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
    };
  } catch {
    return undefined;
  }
}
