import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import Table from 'cli-table3';
import { createLogger } from '../../common/logger.ts';
import { createShutdown } from '../../common/shutdown.ts';
import { delay } from '../../common/wait.ts';
import { startStubbedService } from '../api/service.ts';
import { percentile, type Target } from '../load.ts';
import { send } from './send.ts';
import type { Sending } from './sendAll.ts';

// Measures how long a small request waits while large bodies arrive at once, and the most memory
// that the API has meanwhile. The baseline is the same request while nothing else arrives. The API
// runs in a process of its own, and a thread sends the large bodies.

const BODIES = 20;
const BYTES = 4_000_000;
const ALONE_MS = 3_000;
const PAUSE_MS = 5;

const logger = createLogger({ name: 'bench', level: 'error' });
const shutdown = createShutdown({ logger, timeoutMs: 60_000 });
shutdown.onSignals();
try {
  await run();
} finally {
  await shutdown.run();
}

function bodiesFor(model: string): [name: string, body: string | undefined][] {
  const start = `{"model":${JSON.stringify(model)},"messages":`;
  const one = (content: string) => JSON.stringify([{ role: 'user', content }]);
  const text = 'lorem ipsum '.repeat(BYTES / 12 - 20);
  const part = 'lorem ipsum '.repeat(159);
  const many = Array.from({ length: 2_048 }, () => ({ role: 'user', content: part }));
  const half = BYTES / 2 - 200;
  return [
    ['nothing', undefined],
    ['one message', `${start}${one(text)}}`],
    ['2,048 messages', `${start}${JSON.stringify(many)}}`],
    ['one message, half of the JSON', `${start}${one(text)}`],
    [
      'a field that is ignored, of empty objects',
      `${start}${one('hi')},"x":[${'{},'.repeat(BYTES / 3 - 100)}0]}`,
    ],
    [
      'a field that is ignored, nested',
      `${start}${one('hi')},"x":${'['.repeat(half)}${']'.repeat(half)}}`,
    ],
  ];
}

async function run(): Promise<void> {
  const { target, processIds } = await startStubbedService({ shutdown, nodeOptions: '' });
  const [api = 0] = processIds;
  for (let warm = 0; warm < 300; warm += 1) await ask(target);
  const head = [
    `${BODIES} bodies of 4 MB`,
    'small request, p50 ms',
    'largest ms',
    'longest turn of the API ms',
    'last body after ms',
    'peak of the process, MiB',
    'status',
  ];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, body] of bodiesFor(target.model)) {
    const waitedMs: number[] = [];
    forgetPeak(api);
    await longestTurnMs(target.metricsUrl);
    const startedMs = performance.now();
    let isOver = false;
    const sent = body === undefined ? delay(ALONE_MS).then(() => []) : sendAll(target, body);
    void sent.then(() => {
      isOver = true;
    });
    while (!isOver) {
      waitedMs.push(await ask(target));
      await delay(PAUSE_MS);
    }
    const statuses = await sent;
    const endedMs = performance.now();
    const turnMs = await longestTurnMs(target.metricsUrl);
    table.push([
      name,
      percentile(waitedMs, 50).toFixed(1),
      Math.max(...waitedMs).toFixed(0),
      turnMs.toFixed(0),
      (endedMs - startedMs).toFixed(0),
      peakMiB(api).toFixed(0),
      [...new Set(statuses)].join(', '),
    ]);
  }
  console.log(table.toString());
}

/** @returns the statuses that the large bodies were answered with */
async function sendAll(target: Target, body: string): Promise<number[]> {
  const workerData: Sending = { target, body, count: BODIES };
  const thread = new Worker(new URL('./sendAll.ts', import.meta.url), { workerData });
  const [statuses] = await once(thread, 'message');
  return statuses;
}

/**
 * How long the API's own thread did nothing else at most, since this was read before. It is told to
 * the next 10 ms.
 */
async function longestTurnMs(metricsUrl: string): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(page)?.[1]) * 1_000;
}

/** The most memory that a process had resident; see proc(5). NaN on other systems than Linux. */
function peakMiB(processId: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [, kiB] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1_024;
}

function forgetPeak(processId: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${processId}/clear_refs`, '5');
}

/** @returns how long a small request took, in milliseconds */
async function ask(target: Target): Promise<number> {
  const startedMs = performance.now();
  const status = await send(target, 'GET', '/account');
  if (status !== 200) throw new Error(`A small request was answered with ${status}`);
  return performance.now() - startedMs;
}
