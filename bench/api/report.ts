import Table from 'cli-table3';
import type { Load } from '../load.ts';
import { percentile } from '../percentile.ts';
import type { ProcessCost } from './processCost.ts';

/** One load and what the serving processes had used before and after it. */
export interface Measured {
  load: Load;
  before: ProcessCost;
  after: ProcessCost;
}

const PLAIN = { head: [], border: [] };
const MIB = 2 ** 20;
/** As `server-timing` names them; the doubled ledger takes nothing of any but the last. */
const STAGES = ['lock', 'worker', 'settle', 'mirror'];

/** What the API adds to a bare upstream, in time and in work. */
export function overheadTable(measured: {
  clients: number;
  bare: Measured;
  parts: Measured;
  plain: Measured;
  bareStream: Measured;
  partsStream: Measured;
  stream: Measured;
}): string {
  const { clients, bare, parts, plain, bareStream, partsStream, stream } = measured;
  const table = new Table({
    head: [
      `${clients} client${clients === 1 ? '' : 's'}`,
      ...['p50 ms', 'p99 ms', 'added p50', 'first byte p50', 'added p50', 'a second'],
      ...['API ms CPU', 'database ms CPU', 'a second and core', 'errors'],
    ],
    style: PLAIN,
  });
  table.push(row('bare upstream, plain', bare));
  table.push(row('parts alone, plain', parts));
  table.push(row('service, plain', plain, bare));
  table.push(row('bare upstream, stream', bareStream));
  table.push(row('parts alone, stream', partsStream));
  table.push(row('service, stream', stream, bareStream));
  return table.toString();
}

function row(name: string, { load, before, after }: Measured, bare?: Measured): string[] {
  const { samples } = load;
  const whole = timesOf(load, 'durationMs');
  const first = timesOf(load, 'firstByteMs');
  const times = [percentile(whole, 50), percentile(whole, 99)];
  const added = (times: number[], of: 'durationMs' | 'firstByteMs') =>
    bare ? (percentile(times, 50) - percentile(timesOf(bare.load, of), 50)).toFixed(2) : '';
  const apiMs = ((after.apiCpuSeconds - before.apiCpuSeconds) * 1_000) / samples.length;
  const databaseMs =
    (((after.databaseCpuSeconds ?? Number.NaN) - (before.databaseCpuSeconds ?? 0)) * 1_000) /
    samples.length;
  return [
    name,
    ...times.map((ms) => ms.toFixed(2)),
    added(whole, 'durationMs'),
    percentile(first, 50).toFixed(2),
    added(first, 'firstByteMs'),
    ((samples.length / load.elapsedMs) * 1_000).toFixed(0),
    ...(bare
      ? [apiMs.toFixed(2), databaseMs.toFixed(2), (1_000 / (apiMs + databaseMs)).toFixed(0)]
      : ['', '', '']),
    String(samples.filter(({ isAnswered }) => !isAnswered).length),
  ];
}

/** Where the time of a plain answer goes: the service tells it with each answer. */
export function stagesTable(measured: readonly { clients: number; plain: Measured }[]): string {
  const table = new Table({
    head: ['p50 ms of a plain answer', ...STAGES, 'before and after'],
    style: PLAIN,
  });
  for (const { clients, plain } of measured) {
    const settled = plain.load.samples.filter(({ isSettled }) => isSettled);
    const stageOf = (name: string) => settled.map(({ stages }) => stages[name] ?? Number.NaN);
    const rest = settled.map(
      ({ durationMs, stages }) =>
        durationMs - Object.values(stages).reduce((sum, stage) => sum + stage, 0),
    );
    const times = [...STAGES.map(stageOf), rest];
    table.push([`${clients} clients`, ...times.map((ms) => percentile(ms, 50).toFixed(1))]);
  }
  return table.toString();
}

function timesOf({ samples }: Load, of: 'durationMs' | 'firstByteMs'): number[] {
  return samples.filter(({ isAnswered }) => isAnswered).map((sample) => sample[of]);
}

/** How the API's memory goes on over many requests. */
export function memoryTable(readings: readonly { requests: number; cost: ProcessCost }[]): string {
  const table = new Table({ head: ['requests', 'resident MiB', 'heap MiB'], style: PLAIN });
  for (const { requests, cost } of readings) {
    table.push([
      requests,
      (cost.apiMemoryBytes / MIB).toFixed(0),
      (cost.apiHeapBytes / MIB).toFixed(0),
    ]);
  }
  return table.toString();
}
