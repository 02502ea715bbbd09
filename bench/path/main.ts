import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Connection } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { putUnderLoad, type Target } from '../load.ts';
import { createBenchShutdown } from '../processes.ts';
import { compareCheckouts } from './against.ts';
import { fillMirror } from './fill.ts';
import { buyCredits, closeJobs } from './localLedger.ts';
import { cpuBetween, readParts } from './parts.ts';
import {
  againTable,
  type Comparison,
  costTable,
  idleLine,
  latencyTable,
  memoryLine,
  partsTable,
} from './report.ts';
import { CREDITS_PER_JOB, type Path, startPath, startUpstream } from './startPath.ts';
import { newestSignature, readCosts } from './transactions.ts';

// Measures what the path through escrow, routing, proof and settlement adds to an upstream that
// answers at once. Everything is real, on the local ledger and this machine.

/** Requests until V8 has compiled the hot code. */
const WARM_UP_REQUESTS = 3_000;
const REQUESTS_MIN = 300;
/** A request takes thirty times as long where slots do. */
const REQUESTS_MIN_MAINNET = 60;
const REQUESTS_PER_CLIENT = 30;
/** The bare upstream is so fast that it needs more requests for a stable figure. */
const BARE_FACTOR = 5;
const IDLE_MS = 20_000;
const MANY_CLIENTS = 64;

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1,16,64' },
    // How the ledger keeps time: development or mainnet.
    profile: { type: 'string', default: 'development' },
    // This many old jobs into the mirror, then the first round again: its times must not grow with it.
    fill: { type: 'string', default: '0' },
    // This many more jobs, then the first round again, to find a slowdown.
    jobs: { type: 'string', default: '0' },
    // Another checkout, which gets the same load in turn. Then only the ratios are printed.
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    // Also on a machine that does other work.
    anyway: { type: 'boolean', default: false },
    // This many idle seconds, then the first round again.
    rest: { type: 'string', default: '0' },
  },
});
const rounds = values.clients.split(',').map(Number);
const [first = 1] = rounds;
const isMainnet = values.profile === 'mainnet';

/** With more, the times are those of the other work. */
const LOAD_MAX = 1.5;
const [load = 0] = loadavg();
if (load > LOAD_MAX && !values.anyway) {
  console.error(
    `The machine's load is ${load.toFixed(1)}. Wait until it is below ${LOAD_MAX}, or add --anyway.`,
  );
  process.exit(1);
}

const shutdown = createBenchShutdown();

try {
  await (values.against === undefined ? run() : runAgainst(values.against));
} finally {
  await shutdown.run();
}

async function runAgainst(checkout: string): Promise<void> {
  const clients = Math.max(...rounds);
  const [alone, together] = [requestsOf(1), requestsOf(clients)];
  const upstreamUrl = await startUpstream(shutdown);
  await compareCheckouts(shutdown, {
    checkouts: [checkout, join(import.meta.dirname, '../..')],
    settings: { LOCALNET_PROFILE: values.profile, WORKER_UPSTREAM_URL: upstreamUrl },
    rounds: Number(values.rounds),
    ...{ clients, requestsAlone: alone, requestsTogether: together },
  });
}

async function run(): Promise<void> {
  const path = await startPath(shutdown, { LOCALNET_PROFILE: values.profile });
  const machine = `${availableParallelism()} processors, ${process.platform}`;
  console.log(`Node ${process.version}, ${machine}, the ledger as in ${values.profile}`);
  await putUnderLoad(path.service, { clients: 1, requests: 1, stream: false });
  const toFirstAnswer = (performance.now() - path.startedMs) / 1_000;
  console.log(`From the start to the first paid answer: ${toFirstAnswer.toFixed(1)} s.`);
  const jobsMax = 100_000 + 10 * Number(values.jobs);
  await buyCredits(path.rpcUrl, {
    wallet: path.wallet,
    credits: BigInt(CREDITS_PER_JOB * jobsMax),
  });
  const warmUp = { clients: isMainnet ? MANY_CLIENTS : 16, requests: WARM_UP_REQUESTS };
  await putUnderLoad(path.service, { ...warmUp, stream: false });
  await measureIdle();
  await compareLater(await measureRounds(path), path);
  await measureClosing(path.connection);
}

async function measureIdle(): Promise<void> {
  const before = readParts();
  await delay(IDLE_MS);
  console.log(idleLine(cpuBetween(before, readParts()), IDLE_MS));
}

/** @returns the first round */
async function measureRounds(path: Path): Promise<Comparison | undefined> {
  let fresh: Comparison | undefined;
  for (const clients of rounds) {
    const round = await measureRound(clients, path);
    fresh ??= round;
    console.log(`\n${latencyTable(round)}\n\n${partsTable(round)}\n\n${costTable(round.costs)}`);
  }
  return fresh;
}

function requestsOf(clients: number): number {
  const least = isMainnet ? REQUESTS_MIN_MAINNET : REQUESTS_MIN;
  return Math.max(least, clients * REQUESTS_PER_CLIENT);
}

async function measureRound(clients: number, { bare, service, connection }: Path) {
  const requests = requestsOf(clients);
  const measure = (target: Target, stream: boolean, factor = 1) =>
    putUnderLoad(target, { clients, requests: requests * factor, stream });
  const before = await newestSignature(connection);
  const partsBefore = readParts();
  const plain = await measure(service, false);
  const parts = cpuBetween(partsBefore, readParts());
  const costs = await readCosts(connection, before);
  return {
    clients,
    plain,
    parts,
    costs,
    bare: await measure(bare, false, BARE_FACTOR),
    bareStream: await measure(bare, true, BARE_FACTOR),
    stream: await measure(service, true),
  };
}

/** Compares the first round with the same after old jobs, after more jobs, and after a rest. */
async function compareLater(fresh: Comparison | undefined, path: Path): Promise<void> {
  if (!fresh) return;
  const memory = readParts();
  const compare = async (what: string): Promise<void> => {
    const again = await measureRound(first, path);
    console.log(
      `\nAfter ${what}:\n${againTable(fresh, again)}\n${memoryLine(memory, readParts())}`,
    );
  };
  const old = Number(values.fill);
  if (old > 0) {
    await fillMirror(path.databaseUrl, old);
    await compare(`${old} old jobs in the mirror`);
  }
  const jobs = Number(values.jobs);
  if (jobs > 0) {
    const load = await putUnderLoad(path.service, {
      clients: MANY_CLIENTS,
      requests: jobs,
      stream: false,
    });
    const errors = load.samples.filter(({ isAnswered }) => !isAnswered).length;
    const perSecond = (jobs / load.elapsedMs) * 1_000;
    console.log(
      `\n${jobs} more jobs, ${MANY_CLIENTS} clients: ${perSecond.toFixed(0)} a second, ` +
        `${errors} answered with an error.`,
    );
    await compare(`${jobs} jobs`);
  }
  const restSeconds = Number(values.rest);
  if (restSeconds > 0) {
    await delay(restSeconds * 1_000);
    await compare(`${restSeconds} s of rest`);
  }
}

async function measureClosing(connection: Connection): Promise<void> {
  const before = await newestSignature(connection);
  await closeJobs(connection);
  console.log(`\nClosing, three minutes later:\n${costTable(await readCosts(connection, before))}`);
}
