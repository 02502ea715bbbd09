import { percentile, tableOf } from '../figures.ts';
import type { Load } from '../load.ts';
import type { ProcessCost } from './processes.ts';

/** One load, with the processor time of its server and the database. */
export interface Measured {
  load: Load;
  /** When the worker sent each answer's last part and proof, by what was asked. */
  sentAtMs: ReadonlyMap<string, number>;
  cpuSeconds: number;
  databaseCpuSeconds: number;
}

type Time = 'durationMs' | 'firstByteMs';

const MIB = 2 ** 20;
const NOISE_MS = 0.1;
/** The stages of `server-timing`; the stubbed ledger takes no time in any but the last. */
const STAGES = ['lock', 'worker', 'settle', 'mirror'];

/** The results of the same requests to each target, in the order of the tables. */
export type Compared = Record<
  'upstream' | 'proxy' | 'gateway' | 'parts' | 'service' | 'responses',
  Measured
> & {
  /** Another release's service, and public gateways by their names. */
  [other: string]: Measured;
};

const NAMES: Readonly<Record<string, string>> = {
  ...{ upstream: 'bare upstream', proxy: 'bare proxy', gateway: 'like a gateway' },
  ...{ parts: 'parts alone', responses: 'service, responses' },
};

/** What each server adds to a bare upstream, in time and in work. */
export function overheadTable(measured: {
  clients: number;
  plain: Compared;
  stream: Compared;
}): string {
  const { clients, plain, stream } = measured;
  const table = tableOf([
    clientsOf(clients),
    ...['p50 ms', 'p99 ms', 'added p50', 'first byte p50', 'added p50', 'a second'],
    ...['ms CPU', 'database ms CPU', 'a second and core', '/ proxy', 'errors'],
  ]);
  for (const [form, compared] of Object.entries({ plain, stream })) {
    for (const [who, measured] of Object.entries(compared)) {
      table.push(row(`${NAMES[who] ?? who}, ${form}`, measured, compared));
    }
  }
  return table.toString();
}

function row(name: string, measured: Measured, { upstream, proxy }: Compared): string[] {
  const { samples, elapsedMs } = measured.load;
  const times = (of: Time) => [
    p50Of(measured, of),
    ...(of === 'durationMs' ? [percentile(timesOf(measured.load, of), 99)] : []),
    p50Of(measured, of) - p50Of(upstream, of),
  ];
  const { ownMs, databaseMs } = workOf(measured);
  const perCore = perCoreOf(measured);
  return [
    name,
    ...[...times('durationMs'), ...times('firstByteMs')].map((ms) => ms.toFixed(2)),
    ((samples.length / elapsedMs) * 1_000).toFixed(0),
    ...[ownMs, databaseMs].map((ms) => ms.toFixed(2)),
    perCore.toFixed(0),
    (perCore / perCoreOf(proxy)).toFixed(2),
    String(samples.filter(({ isAnswered }) => !isAnswered).length),
  ];
}

/** Milliseconds of processor time for one request. */
function workOf(measured: Measured): { ownMs: number; databaseMs: number } {
  const { load, cpuSeconds, databaseCpuSeconds } = measured;
  const each = (seconds: number) => (seconds * 1_000) / load.samples.length;
  return { ownMs: each(cpuSeconds), databaseMs: each(databaseCpuSeconds) };
}

/** Requests a second that one processor serves, the database's work included. */
function perCoreOf(measured: Measured): number {
  const { ownMs, databaseMs } = workOf(measured);
  return 1_000 / (ownMs + databaseMs);
}

/** The service's added time and its throughput, relative to a bare proxy in the same run. */
export function ratioTable(
  measured: readonly { clients: number; plain: Compared; stream: Compared }[],
): string {
  const table = tableOf([
    'service / bare proxy',
    ...['added to a plain answer, without the mirror', 'added to the first byte'],
    ...['a second and core, plain', 'stream', '/ like a gateway, plain', 'stream'],
  ]);
  for (const { clients, plain, stream } of measured) {
    const added = ({ upstream, ...compared }: Compared, who: 'proxy' | 'service', of: Time) =>
      p50Of(compared[who], of) - p50Of(upstream, of);
    const served = (compared: Compared, who: 'proxy' | 'gateway') =>
      (perCoreOf(compared.service) / perCoreOf(compared[who])).toFixed(2);
    table.push([
      clientsOf(clients),
      ratio(addedWithoutMirror(plain), added(plain, 'proxy', 'durationMs')),
      ratio(added(stream, 'service', 'firstByteMs'), added(stream, 'proxy', 'firstByteMs')),
      ...[served(plain, 'proxy'), served(stream, 'proxy')],
      ...[served(plain, 'gateway'), served(stream, 'gateway')],
    ]);
  }
  return table.toString();
}

/** What a response takes, relative to a chat completion in the same run. */
export function formatsTable(
  measured: readonly { clients: number; plain: Compared; stream: Compared }[],
): string {
  const table = tableOf([
    'responses / chat completions',
    ...['p50, plain', 'CPU, plain', 'p50, stream', 'first byte p50, stream', 'CPU, stream'],
  ]);
  for (const { clients, plain, stream } of measured) {
    const share = ({ service, responses }: Compared, of: (one: Measured) => number) =>
      (of(responses) / of(service)).toFixed(3);
    const whole = (one: Measured) => p50Of(one, 'durationMs');
    const work = (one: Measured) => workOf(one).ownMs;
    table.push([
      clientsOf(clients),
      ...[share(plain, whole), share(plain, work), share(stream, whole)],
      ...[share(stream, (one) => p50Of(one, 'firstByteMs')), share(stream, work)],
    ]);
  }
  return table.toString();
}

/** Empty when the proxy adds less than the variation of the upstream's own times. */
function ratio(ofServiceMs: number, ofProxyMs: number): string {
  return ofProxyMs < NOISE_MS ? '-' : (ofServiceMs / ofProxyMs).toFixed(2);
}

/** The stages of a plain answer, from the service's `server-timing`. */
export function stagesTable(measured: readonly { clients: number; plain: Compared }[]): string {
  const table = tableOf([
    'p50 ms of a plain answer',
    ...[...STAGES, 'before and after', 'added without the mirror'],
  ]);
  for (const { clients, plain } of measured) {
    const rest = settledOf(plain).map(
      ({ durationMs, stages }) =>
        durationMs - Object.values(stages).reduce((sum, stage) => sum + stage, 0),
    );
    const times = [...STAGES.map((name) => stageOf(plain, name)), rest];
    table.push([
      clientsOf(clients),
      ...times.map((ms) => percentile(ms, 50).toFixed(1)),
      addedWithoutMirror(plain).toFixed(2),
    ]);
  }
  return table.toString();
}

const OTHER = 'other release';

/** How long a stream takes from the worker's proof to its finish chunk and `[DONE]`, at the client. */
export function finishTable(measured: readonly { clients: number; stream: Compared }[]): string {
  const hasOther = measured.some(({ stream }) => stream[OTHER]);
  const table = tableOf([
    'ms from proof to finish chunk',
    ...['bare proxy, p50', 'parts alone, p50', 'service, p50', 'p99'],
    ...(hasOther ? ['other release, p50', 'p99', 'later by'] : []),
  ]);
  for (const { clients, stream } of measured) {
    const { proxy, parts, service, [OTHER]: other } = stream;
    const p50 = (of: Measured) => percentile(finishTimes(of), 50);
    const both = (of: Measured) => [p50(of), percentile(finishTimes(of), 99)];
    const compared = other ? [...both(other), p50(service) - p50(other)] : [];
    const cells = [p50(proxy), p50(parts), ...both(service), ...compared];
    table.push([clientsOf(clients), ...cells.map((ms) => ms.toFixed(3))]);
  }
  return table.toString();
}

function finishTimes({ load, sentAtMs }: Measured): number[] {
  return load.samples.map(({ prompt, wholeAtMs }) => {
    const sentMs = sentAtMs.get(prompt);
    if (sentMs === undefined) throw new Error('An answer came that the worker has not sent');
    return wholeAtMs - sentMs;
  });
}

const clientsOf = (clients: number): string => `${clients} client${clients === 1 ? '' : 's'}`;

function settledOf({ service }: Compared) {
  return service.load.samples.filter(({ isSettled }) => isSettled);
}

/** The service's added time for a plain answer, without the wait for the mirror, in milliseconds. */
function addedWithoutMirror(plain: Compared): number {
  const own = settledOf(plain).map(({ durationMs, stages: { mirror = 0 } }) => durationMs - mirror);
  return percentile(own, 50) - p50Of(plain.upstream, 'durationMs');
}

function stageOf(plain: Compared, name: string): number[] {
  return settledOf(plain).map(({ stages }) => stages[name] ?? Number.NaN);
}

function p50Of({ load }: Measured, of: Time): number {
  return percentile(timesOf(load, of), 50);
}

function timesOf({ samples }: Load, of: Time): number[] {
  return samples.filter(({ isAnswered }) => isAnswered).map((sample) => sample[of]);
}

/** The API's memory over many requests. */
export function memoryTable(readings: readonly { requests: number; cost: ProcessCost }[]): string {
  const table = tableOf(['requests', 'resident MiB', 'heap MiB']);
  for (const { requests, cost } of readings) {
    table.push([requests, (cost.memoryBytes / MIB).toFixed(0), (cost.heapBytes / MIB).toFixed(0)]);
  }
  return table.toString();
}
