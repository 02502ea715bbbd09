import { percentile, tableOf } from '../figures.ts';
import type { Throughput } from './throughput.ts';

/** The measurements of each round: without the service, with it, and with it and a dead endpoint. */
export interface Compared<Measure> {
  readonly bare: readonly Measure[];
  readonly alive: readonly Measure[];
  readonly oneDead: readonly Measure[];
}

export function throughputTable(measured: Compared<Throughput>): string {
  const table = tableOf(['requests', 'a second', '/ bare', 'a second of its processor', '/ bare']);
  const bare = rates(measured.bare);
  for (const [name, rounds] of named(measured)) {
    const { perSecond, perProcessorSecond } = rates(rounds);
    table.push([
      ...[name, Math.round(perSecond), (perSecond / bare.perSecond).toFixed(2)],
      ...[Math.round(perProcessorSecond)],
      ...[(perProcessorSecond / bare.perProcessorSecond).toFixed(2)],
    ]);
  }
  return table.toString();
}

/** What an endpoint's backlog does to the others. */
export function backlogTable(measured: {
  even: readonly Throughput[];
  behind: readonly Throughput[];
}): string {
  const table = tableOf(['one endpoint has', 'the others a second', 'ratio']);
  const even = rates(measured.even).perSecond;
  const behind = rates(measured.behind).perSecond;
  table.push(['as many events as each', Math.round(even), '1.00']);
  table.push(['the backlog', Math.round(behind), (behind / even).toFixed(2)]);
  return table.toString();
}

function rates(rounds: readonly Throughput[]) {
  const sum = (field: keyof Throughput) => rounds.reduce((total, round) => total + round[field], 0);
  const requests = sum('requests') * 1_000;
  return {
    perSecond: requests / sum('elapsedMs'),
    perProcessorSecond: requests / sum('processorMs'),
  };
}

/** @param measured the milliseconds of each request */
export function dispatchTable(measured: Compared<readonly number[]>): string {
  const table = tableOf(['confirmation to arrival', 'p50 ms', 'p99 ms', 'p50 / bare']);
  const bareMs = percentile(measured.bare.flat(), 50);
  for (const [name, rounds] of named(measured)) {
    const latenciesMs = rounds.flat();
    const p50Ms = percentile(latenciesMs, 50);
    const p99Ms = percentile(latenciesMs, 99);
    table.push([name, p50Ms.toFixed(1), p99Ms.toFixed(1), (p50Ms / bareMs).toFixed(1)]);
  }
  return table.toString();
}

function named<Measure>(measured: Compared<Measure>): [string, readonly Measure[]][] {
  return [
    ['bare fetch loop', measured.bare],
    ['all endpoints answer', measured.alive],
    ['one never answers', measured.oneDead],
  ];
}
