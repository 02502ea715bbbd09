import { percentile, tableOf } from '../figures.ts';
import type { Load, Sample } from '../load.ts';
import { BARE_UPSTREAM, type PartUse } from './parts.ts';
import type { TransactionCosts } from './transactions.ts';

/** The loads of one number of clients. */
export interface Comparison {
  clients: number;
  /** Seconds of processor time of the plain answers, by part. */
  parts: ReadonlyMap<string, number>;
  bare: Load;
  plain: Load;
  bareStream: Load;
  stream: Load;
}

const STAGES = ['lock', 'worker', 'settle', 'mirror'];

/** p50 and p99 of the service and of the bare upstream, and of the service's stages. */
export function latencyTable({ clients, bare, plain, bareStream, stream }: Comparison): string {
  const table = tableOf([
    `${clients} client${clients === 1 ? '' : 's'}`,
    'p50 ms',
    'p99 ms',
    'p50 / bare',
  ]);
  const row = (name: string, durations: number[], bareDurations?: number[]) => {
    const ratio = bareDurations && percentile(durations, 50) / percentile(bareDurations, 50);
    const [p50, p99] = [percentile(durations, 50), percentile(durations, 99)];
    table.push([name, p50.toFixed(1), p99.toFixed(1), ratio?.toFixed(1) ?? '']);
  };
  row('bare upstream, plain', durationsOf(bare));
  row('service, plain answer', durationsOf(plain), durationsOf(bare));
  for (const stage of STAGES) row(`  of it ${stage}`, stagesOf(plain, stage));
  row('bare upstream, first token', firstBytesOf(bareStream));
  row('service, first token', firstBytesOf(stream), firstBytesOf(bareStream));
  row('bare upstream, stream', durationsOf(bareStream));
  row('service, stream to [DONE]', durationsOf(stream), durationsOf(bareStream));
  const settled = plain.samples.filter(({ isSettled }) => isSettled).length;
  const perSecond = (settled / plain.elapsedMs) * 1_000;
  const added = (one: number[], other: number[]) =>
    (percentile(one, 50) - percentile(other, 50)).toFixed(1);
  return `${table.toString()}
Added by the path at p50: plain answer ${added(durationsOf(plain), durationsOf(bare))} ms, first token ${added(firstBytesOf(stream), firstBytesOf(bareStream))} ms. Settled: ${perSecond.toFixed(1)} jobs a second (${settled} of ${plain.samples.length}).
Answered with an error: plain ${errorsOf(plain)}; streamed ${errorsOf(stream)}.`;
}

/** The number of errors, by kind. */
function errorsOf({ samples }: Load): string {
  const errors = samples.flatMap(({ error }) => error ?? []);
  const kinds = Map.groupBy(errors, (error) => error);
  const counts = [...kinds].map(([error, all]) => `${all.length} × ${error}`);
  return `${errors.length}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`;
}

/** The cost of each kind of transaction. */
export function costTable(costs: readonly TransactionCosts[]): string {
  const table = tableOf([
    'instructions',
    'sent',
    'jobs in each',
    'CU each',
    'CU a job',
    'lamports a job',
  ]);
  for (const { instructions, transactions, jobs, computeUnits, feeLamports } of costs) {
    table.push([
      instructions,
      transactions,
      (jobs / transactions).toFixed(1),
      Math.round(computeUnits / transactions),
      Math.round(computeUnits / jobs),
      Math.round(feeLamports / jobs),
    ]);
  }
  return table.toString();
}

function answered({ samples }: Load): Sample[] {
  return samples.filter(({ isAnswered }) => isAnswered);
}

/** The processor time of each part for a job, without the clients. */
export function partsTable({ plain, parts }: Pick<Comparison, 'plain' | 'parts'>): string {
  const table = tableOf(['process', 'ms of processor a job']);
  const jobs = answered(plain).length;
  const perJob = (seconds: number) => ((seconds * 1_000) / jobs).toFixed(2);
  const own = [...parts].filter(([name]) => name !== BARE_UPSTREAM);
  for (const [name, seconds] of own) table.push([name, perJob(seconds)]);
  table.push(['all of them', perJob(own.reduce((sum, [, seconds]) => sum + seconds, 0))]);
  return table.toString();
}

/** The processor time of an idle service. */
export function idleLine(parts: ReadonlyMap<string, number>, elapsedMs: number): string {
  const share = (seconds: number) => `${((seconds * 100_000) / elapsedMs).toFixed(1)} %`;
  const own = [...parts].filter(([name]) => name !== BARE_UPSTREAM);
  const all = own.reduce((sum, [, seconds]) => sum + seconds, 0);
  const each = own.map(([name, seconds]) => `${name} ${share(seconds)}`).join(', ');
  return `Idle: ${share(all)} of one processor (${each}).`;
}

/** The growth of each part's memory. */
export function memoryLine(
  before: ReadonlyMap<string, PartUse>,
  after: ReadonlyMap<string, PartUse>,
): string {
  const lines = [...after].map(([name, { residentBytes }]) => {
    const then = before.get(name)?.residentBytes ?? 0;
    const mebibytes = (residentBytes / 2 ** 20).toFixed(0);
    return `${name} ${mebibytes} MiB (${(residentBytes / then).toFixed(2)} ×)`;
  });
  return `Memory: ${lines.join(', ')}.`;
}

/** A round's p50 beside those of the first one. */
export function againTable(first: Comparison, again: Comparison): string {
  const table = tableOf(['p50', 'first, ms', 'again, ms', 'ratio']);
  const row = (name: string, of: (round: Comparison) => number[]) => {
    const [firstMs, againMs] = [percentile(of(first), 50), percentile(of(again), 50)];
    table.push([name, firstMs.toFixed(1), againMs.toFixed(1), (againMs / firstMs).toFixed(2)]);
  };
  row('plain answer', ({ plain }) => durationsOf(plain));
  for (const stage of STAGES) row(`  of it ${stage}`, ({ plain }) => stagesOf(plain, stage));
  row('first token', ({ stream }) => firstBytesOf(stream));
  return table.toString();
}

function stagesOf(load: Load, stage: string): number[] {
  return answered(load).map(({ stages }) => stages[stage] ?? 0);
}

function firstBytesOf(load: Load): number[] {
  return answered(load).map(({ firstByteMs }) => firstByteMs);
}

function durationsOf(load: Load): number[] {
  return answered(load).map(({ durationMs }) => durationMs);
}
