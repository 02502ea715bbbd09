import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startProcess } from '../../testing/childProcess.ts';
import { type Load, putUnderLoad } from '../load.ts';
import { createBenchShutdown } from '../processes.ts';
import {
  createCostReading,
  divideProcessors,
  findDatabase,
  keepProcessorsAwake,
  type ProcessCost,
} from './processes.ts';
import { startPublicGateways } from './publicGateways.ts';
import {
  type Compared,
  finishTable,
  formatsTable,
  type Measured,
  memoryTable,
  overheadTable,
  ratioTable,
  stagesTable,
} from './report.ts';
import { type MeteredTarget, metered, startStubbedService } from './service.ts';

// Measures what the API itself adds to an upstream that answers at once. Everything is real but the
// ledger, which confirms each transaction at once. bench:path measures the ledger, too.

/** Enough requests for a p99. */
const REQUESTS_MIN = 900;
const REQUESTS_PER_CLIENT = 24;
/**
 * Rounds in which the targets take turns, so that other load on the machine affects all equally. With
 * many clients, each round would begin with as many new connections, and Node accepts one a turn.
 */
const ROUNDS = 3;
const CLIENTS_IN_ROUNDS_MAX = 8;
/** Requests of each form. V8's compilation takes up to a third of a single request's time before. */
const WARM_UP = { clients: 32, requests: 10_000 };
const MEMORY_STEPS = 5;

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1,32,128' },
    /** The number of requests for the measurement of memory. */
    memory: { type: 'string', default: '5000' },
    /** Node options for the API's process, such as --cpu-prof. */
    node: { type: 'string', default: '' },
    /** A checkout of another release: its API gets the same load in turn. */
    against: { type: 'string' },
    /** Public gateways before the same upstream, as far as the registries have them. */
    beside: { type: 'boolean', default: false },
    /** Keeps the processors awake, so that their wake-up time is not measured. */
    awake: { type: 'boolean', default: false },
  },
});

type Targets = { [Who in keyof Compared]: MeteredTarget };

const shutdown = createBenchShutdown();
try {
  await run();
} finally {
  await shutdown.run();
}

async function run(): Promise<void> {
  const processors = divideProcessors();
  if (values.awake) shutdown.add('busy processors', keepProcessorsAwake());
  const { node: nodeOptions, against } = values;
  const service = await startStubbedService({ shutdown, nodeOptions, against });
  const proxy = await startProcess('bench/api/bareProxy.ts', {
    BENCH_UPSTREAM_URL: service.upstream.url,
  });
  shutdown.add('proxy', async () => void (await proxy.terminate()));
  const gateway = await startProcess('bench/api/gatewayAlike.ts', {
    BENCH_UPSTREAM_URL: service.upstream.url,
  });
  shutdown.add('gateway', async () => void (await gateway.terminate()));
  const beside = values.beside ? await startPublicGateways(shutdown, service.upstream) : new Map();
  const database = await findDatabase(service.databaseUrl);
  const others = [...beside.values()].map(({ pid }) => pid);
  processors.measure([proxy.id, gateway.id, ...others, ...service.processIds], database);
  const readCost = createCostReading(database);
  const targets: Targets = {
    upstream: service.upstream,
    proxy: { ...service.target, ...metered(proxy) },
    gateway: { ...service.target, ...metered(gateway) },
    ...Object.fromEntries(beside),
    parts: service.parts,
    service: service.target,
    responses: { ...service.target, format: 'responses' },
    ...(service.other && { 'other release': service.other }),
  };

  console.log(`Node ${process.version}, ${cpus().length} processors, ${process.platform}`);
  if (processors.isDivided) {
    console.log('What is measured has one processor, with its database; all else has another.');
  }
  if (values.awake) console.log('No processor sleeps.');
  for (const target of Object.values(targets)) {
    for (const stream of [false, true]) await putUnderLoad(target, { ...WARM_UP, stream });
  }
  const comparisons = [];
  for (const clients of values.clients.split(',').map(Number)) {
    const rounds = clients > CLIENTS_IN_ROUNDS_MAX ? 1 : ROUNDS;
    const requests = Math.max(REQUESTS_MIN, clients * REQUESTS_PER_CLIENT) / rounds;
    const measure = async (target: MeteredTarget, stream: boolean): Promise<Measured> => {
      const before = await readCost(target);
      await readProofs(targets.upstream);
      const load = await putUnderLoad(target, { clients, requests, stream });
      const work = workBetween(before, await readCost(target));
      return { load, sentAtMs: await readProofs(targets.upstream), ...work };
    };
    const measureAll = async (stream: boolean): Promise<Compared> => {
      const measured: Compared[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const each: Record<string, Measured> = {};
        for (const [who, target] of Object.entries(targets)) {
          each[who] = await measure(target, stream);
        }
        measured.push(each as Compared);
      }
      return joinRounds(measured);
    };
    const comparison = {
      clients,
      plain: await measureAll(false),
      stream: await measureAll(true),
    };
    assertSettled(comparison.plain.service.load);
    comparisons.push(comparison);
    console.log(`\n${overheadTable(comparison)}`);
  }
  console.log(`\n${ratioTable(comparisons)}`);
  console.log(`\n${formatsTable(comparisons)}`);
  console.log(`\n${stagesTable(comparisons)}`);
  console.log(`\n${finishTable(comparisons)}`);
  await measureMemory(targets.service, readCost);
}

/** Watches the service's memory over many requests. */
async function measureMemory(
  service: MeteredTarget,
  readCost: (target: MeteredTarget) => Promise<ProcessCost>,
): Promise<void> {
  const readings = [{ requests: 0, cost: await readCost(service) }];
  for (let step = 1; step <= MEMORY_STEPS; step += 1) {
    const requests = Math.ceil(Number(values.memory) / MEMORY_STEPS);
    await putUnderLoad(service, { clients: 32, requests, stream: step % 2 === 0 });
    readings.push({ requests: step * requests, cost: await readCost(service) });
  }
  console.log(`\n${memoryTable(readings)}`);
}

/** When the worker sent its proofs since the last reading, by what was asked. */
async function readProofs({ url }: { url: string }): Promise<Map<string, number>> {
  const response = await fetch(new URL('/proofs', url));
  return new Map((await response.json()) as [prompt: string, sentAtMs: number][]);
}

function workBetween(
  before: ProcessCost,
  after: ProcessCost,
): Pick<Measured, 'cpuSeconds' | 'databaseCpuSeconds'> {
  const { databaseCpuSeconds = Number.NaN } = after;
  return {
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    databaseCpuSeconds: databaseCpuSeconds - (before.databaseCpuSeconds ?? 0),
  };
}

/** Merges the loads of all rounds. */
function joinRounds(rounds: readonly Compared[]): Compared {
  const join = (who: string): Measured => {
    const parts = rounds.flatMap((round) => round[who] ?? []);
    const sum = (of: (part: Measured) => number) => parts.reduce((all, part) => all + of(part), 0);
    return {
      load: {
        samples: parts.flatMap(({ load }) => load.samples),
        elapsedMs: sum(({ load }) => load.elapsedMs),
      },
      sentAtMs: new Map(parts.flatMap(({ sentAtMs }) => [...sentAtMs])),
      cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
      databaseCpuSeconds: sum(({ databaseCpuSeconds }) => databaseCpuSeconds),
    };
  };
  const whose = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(whose.map((who) => [who, join(who)])) as Compared;
}

/** @throws Error unless every answer was settled: other times would be meaningless */
function assertSettled({ samples }: Load): void {
  const unsettled = samples.filter(({ isSettled }) => !isSettled).length;
  if (unsettled > 0) throw new Error(`${unsettled} of ${samples.length} answers were not settled`);
}
