import { percentile, tableOf } from '../figures.ts';
import type { BareInsert } from './bareInsert.ts';
import type { SyncProgress } from './sync.ts';

/** A first sync, with a measurement at each tenth. */
export interface MeasuredSync {
  readonly name: string;
  readonly progress: readonly SyncProgress[];
}

const MEBIBYTE = 1_024 ** 2;

/** Throughput beside the bare insert's, processor time an event, and the memory at a tenth of each history and at its end. */
export function syncTable(syncs: readonly MeasuredSync[], bare: BareInsert): string {
  const table = tableOf([
    ...['first sync', 'events', 'a second', '/ bare', 'own µs', 'database µs'],
    ...['heap, at 1/10', 'at the end', 'peak MiB'],
  ]);
  for (const { name, progress } of syncs) {
    const [first, last] = [progress[0], progress.at(-1)];
    if (!first || !last) throw new Error(`The sync ${name} measured nothing`);
    const perSecond = (last.events * 1_000) / last.elapsedMs;
    const perEvent = (ms: number) => ((ms * 1_000) / last.events).toFixed(1);
    table.push([
      ...[name, last.events, Math.round(perSecond), (perSecond / bare.perSecond).toFixed(2)],
      ...[perEvent(last.ownMs), perEvent(last.databaseMs)],
      ...[mebibytes(first.heapBytes), mebibytes(last.heapBytes), mebibytes(last.peakBytes)],
    ]);
  }
  return table.toString();
}

/** The mirror's lag, compared with a bare insert. */
export function lagTable(lagsMs: readonly number[], { durationsMs }: BareInsert): string {
  const table = tableOf(['live', 'p50 ms', 'p99 ms', 'p50 / bare']);
  const bareMs = percentile(durationsMs, 50);
  for (const [name, values] of [
    ['bare insert of one transaction', durationsMs],
    ['confirmation to commit', lagsMs],
  ] as const) {
    const p50Ms = percentile(values, 50);
    const ratio = (p50Ms / bareMs).toFixed(1);
    table.push([name, p50Ms.toFixed(1), percentile(values, 99).toFixed(1), ratio]);
  }
  return table.toString();
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1);
}
