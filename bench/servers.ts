import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endWithParent } from '../common/shutdown.ts';

// What the servers of the benchmarks have in common: each is a process of its own.

/** The answer of every one, a word at a time. */
export const WORDS: readonly string[] =
  'The same twenty words for everyone so that only the path to them is what makes any difference to the clock'
    .split(' ')
    .map((word) => `${word} `);

/** Listens until its parent ends, and says on its standard output where. @param path of its address */
export async function serve(server: Server, path: string): Promise<void> {
  endWithParent();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${path}`;
  process.stdout.write(`${JSON.stringify({ ready: true, url })}\n`);
}

/** The resources that this process has used, under the names of the API's metrics. */
export function costMetrics(): string {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return [
    `process_cpu_seconds_total ${(user + system) / 1e6}`,
    `process_resident_memory_bytes ${rss}`,
    `nodejs_heap_size_used_bytes ${heapUsed}\n`,
  ].join('\n');
}

/** Milliseconds of a clock that all processes of this machine share. */
export function machineClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
