import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@solana/web3.js';
import type { Shutdown } from '../../common/shutdown.ts';
import { readStackFile } from '../../stack/stackFile.ts';
import { until } from '../../testing/until.ts';
import { percentile, tableOf } from '../figures.ts';
import { createClient, putUnderLoad, type Sample, type Target } from '../load.ts';
import { buyCredits } from './localLedger.ts';
import { BARE_UPSTREAM, cpuBetween, readParts } from './parts.ts';
import { CREDITS_PER_JOB } from './startPath.ts';
import { newestSignature, readCosts } from './transactions.ts';

// Two checkouts, each with its own `npm start`, get the same load in turn. What else the machine does
// then falls on both. So the ratio of each round is compared, not the times.

/** A checkout's running service. */
interface Side {
  readonly service: Target;
  readonly connection: Connection;
  readonly pid: number;
}

type Sides = readonly [base: Side, own: Side];
const PLACES = [0, 1] as const;

/** What one round measured of a side, by what it is and its unit. */
type Figures = ReadonlyMap<string, number>;

const WARM_UP = { clients: 16, requests: 3_000, stream: false };

/**
 * @param options.checkouts their roots: the one that is compared with, and the one that is measured
 * @param options.clients how many send at once, in addition to one alone
 */
export async function compareCheckouts(
  shutdown: Shutdown,
  options: {
    checkouts: readonly [base: string, own: string];
    settings: Readonly<Record<string, string>>;
    clients: number;
    rounds: number;
    requestsAlone: number;
    requestsTogether: number;
  },
): Promise<void> {
  const { checkouts, settings, clients, rounds, requestsAlone, requestsTogether } = options;
  const [base, own] = checkouts;
  const sides: Sides = [
    await startSide(shutdown, base, settings),
    await startSide(shutdown, own, settings),
  ];
  for (const { service } of sides) await putUnderLoad(service, WARM_UP);
  const measured: [Figures[], Figures[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const alone = await measureAlone(sides, requestsAlone);
    const together: [Figures, Figures] = [new Map(), new Map()];
    // Each is first in turn: the second one finds a warmer machine.
    for (const place of round % 2 === 0 ? PLACES : PLACES.toReversed()) {
      if (clients > 1)
        together[place] = await measureTogether(sides[place], clients, requestsTogether);
    }
    for (const place of PLACES)
      measured[place].push(new Map([...alone[place], ...together[place]]));
  }
  console.log(`\n${ratiosTable(measured)}`);
}

/** Starts a checkout as `npm start` does, in a new folder. */
async function startSide(
  shutdown: Shutdown,
  root: string,
  settings: Readonly<Record<string, string>>,
): Promise<Side> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  shutdown.add('folder', () => rm(folder, { recursive: true }));
  // The database's own user must have access.
  await chmod(folder, 0o755);
  const child = spawn(process.execPath, [join(root, 'stack/launch.mjs')], {
    cwd: folder,
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  shutdown.add('stack', async () => {
    child.kill();
    await ended;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  await until(async () => child.exitCode !== null || output.includes('Ctrl-C'));
  const stack = readStackFile(join(folder, '.svc'));
  if (!stack) throw new Error(`${root} did not start: ${output}`);
  const { apiKey, model, rpcUrl, wsUrl, wallet } = stack;
  await buyCredits(rpcUrl, { wallet, credits: BigInt(CREDITS_PER_JOB * 200_000) });
  return {
    service: { url: `${stack.baseUrl}/v1`, apiKey, model },
    connection: new Connection(rpcUrl, { wsEndpoint: wsUrl }),
    pid: child.pid as number,
  };
}

/** One client sends to both in turn, request by request: what else the machine does falls on both. */
async function measureAlone(sides: Sides, requests: number): Promise<[Figures, Figures]> {
  const clients = sides.map(({ service }) => createClient(service, 0));
  const send = async (stream: boolean): Promise<[Sample[], Sample[]]> => {
    const samples: [Sample[], Sample[]] = [[], []];
    for (let sent = 0; sent < requests; sent += 1) {
      for (const place of PLACES) {
        const client = clients[place] as (typeof clients)[number];
        samples[place].push(await client.send(stream));
      }
    }
    return samples;
  };
  const ends = await Promise.all(sides.map(watchCosts));
  const plain = await send(false);
  const costs = await Promise.all(ends.map((end, place) => end(plain[place as 0 | 1])));
  const stream = await send(true);
  for (const client of clients) await client.close();
  const [base = [], own = []] = costs;
  return [
    figuresOf('1 client', plain[0], stream[0], base),
    figuresOf('1 client', plain[1], stream[1], own),
  ];
}

async function measureTogether(side: Side, clients: number, requests: number): Promise<Figures> {
  const load = { clients, requests };
  const end = await watchCosts(side);
  const plain = await putUnderLoad(side.service, { ...load, stream: false });
  const costs = await end(plain.samples);
  const stream = await putUnderLoad(side.service, { ...load, stream: true });
  const settled = plain.samples.filter(({ isSettled }) => isSettled).length;
  return figuresOf(`${clients} clients`, plain.samples, stream.samples, [
    ['settled a second', (settled / plain.elapsedMs) * 1_000],
    ...costs,
  ]);
}

type NamedFigures = (readonly [name: string, value: number])[];

/** @returns what the jobs until then cost, by the samples that settled */
async function watchCosts({ connection, pid }: Side) {
  const newest = await newestSignature(connection);
  const before = readParts(pid);
  return async (samples: readonly Sample[]): Promise<NamedFigures> => {
    const parts = cpuBetween(before, readParts(pid));
    const settled = samples.filter(({ isSettled }) => isSettled).length;
    const perJob = (seconds: number) => (seconds * 1_000) / settled;
    const own = [...parts].filter(([name, seconds]) => name !== BARE_UPSTREAM && seconds > 0);
    const costs = await readCosts(connection, newest);
    const lamports = costs.reduce((sum, { feeLamports }) => sum + feeLamports, 0);
    return [
      ['lamports a job', lamports / settled],
      ['ms of processor a job', perJob(own.reduce((sum, [, seconds]) => sum + seconds, 0))],
      ...own.map(([name, seconds]) => [`  of it ${name}`, perJob(seconds)] as const),
    ];
  };
}

function figuresOf(
  who: string,
  plain: readonly Sample[],
  stream: readonly Sample[],
  costs: NamedFigures,
): Figures {
  const durations = plain.map(({ durationMs }) => durationMs);
  const firstBytes = stream.map(({ firstByteMs }) => firstByteMs);
  const named: NamedFigures = [
    ['plain answer, p50 ms', percentile(durations, 50)],
    ['plain answer, p99 ms', percentile(durations, 99)],
    ['first token, p50 ms', percentile(firstBytes, 50)],
    ...costs,
  ];
  return new Map(named.map(([name, value]) => [`${who}: ${name}`, value]));
}

/** Each figure's median on both sides, and the median and spread of its ratios. */
function ratiosTable([base, own]: readonly [readonly Figures[], readonly Figures[]]): string {
  const table = tableOf(['', 'base', 'own', 'ratio', 'least and largest']);
  for (const name of base[0]?.keys() ?? []) {
    const [before, after] = [base, own].map((side) => side.map((round) => round.get(name) ?? 0));
    const ratios = before?.map((value, round) => (after?.[round] ?? 0) / value) ?? [];
    const medians = [before ?? [], after ?? [], ratios].map((all) => percentile(all, 50));
    const [one = 0, other = 0, ratio = 0] = medians;
    const spread = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2));
    table.push([name, one.toFixed(2), other.toFixed(2), ratio.toFixed(2), spread.join(' to ')]);
  }
  return table.toString();
}
