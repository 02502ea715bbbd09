const MICROSECONDS_PER_SECOND = 1_000_000;

/** The resources that this process has used, under the names of the API's metrics. */
export function costMetrics(): string {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return [
    `process_cpu_seconds_total ${(user + system) / MICROSECONDS_PER_SECOND}`,
    `process_resident_memory_bytes ${rss}`,
    `nodejs_heap_size_used_bytes ${heapUsed}\n`,
  ].join('\n');
}
