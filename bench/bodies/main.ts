import { once } from 'node:events';
import { request } from 'node:http';
import Table from 'cli-table3';
import { createLogger } from '../../common/logger.ts';
import { createShutdown } from '../../common/shutdown.ts';
import { delay } from '../../common/wait.ts';
import { startStubbedService } from '../api/service.ts';
import { percentile, type Target } from '../load.ts';

// Measures how long a small request waits while large bodies arrive at once. Its baseline is the
// same request while nothing else arrives. The API runs in a process of its own.

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
  const { target } = await startStubbedService({ shutdown, nodeOptions: '' });
  for (let warm = 0; warm < 300; warm += 1) await ask(target);
  const head = [
    `${BODIES} bodies of 4 MB`,
    'small request, p50 ms',
    'largest ms',
    'last body after ms',
    'status',
  ];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, body] of bodiesFor(target.model)) {
    const waitedMs: number[] = [];
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
    table.push([
      name,
      percentile(waitedMs, 50).toFixed(1),
      Math.max(...waitedMs).toFixed(0),
      (performance.now() - startedMs).toFixed(0),
      [...new Set(statuses)].join(', '),
    ]);
  }
  console.log(table.toString());
}

function sendAll(target: Target, body: string): Promise<number[]> {
  const bytes = Buffer.from(body);
  return Promise.all(
    Array.from({ length: BODIES }, () => send(target, 'POST', '/chat/completions', bytes)),
  );
}

/** @returns how long a small request took, in milliseconds */
async function ask(target: Target): Promise<number> {
  const startedMs = performance.now();
  const status = await send(target, 'GET', '/account');
  if (status !== 200) throw new Error(`A small request was answered with ${status}`);
  return performance.now() - startedMs;
}

async function send(
  { url, apiKey }: Target,
  method: string,
  path: string,
  body?: Buffer,
): Promise<number> {
  const sent = request(`${url}${path}`, { method, headers: { authorization: `Bearer ${apiKey}` } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
