import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Keypair } from '@solana/web3.js';
import Table from 'cli-table3';
import { createKey } from '../../api/account/keys.ts';
import { createLogger } from '../../common/logger.ts';
import { createPool } from '../../common/postgres.ts';
import { createShutdown } from '../../common/shutdown.ts';
import { delay } from '../../common/wait.ts';
import { MESSAGES_MAX } from '../../common/workerProtocol.ts';
import { startStubbedService } from '../api/service.ts';
import { percentile, type Target } from '../load.ts';
import { send } from './send.ts';
import type { Sending } from './sendAll.ts';

// Measures how long a small request and one of 100 KB wait beside bodies that are hard to read. A
// wallet without credits sends many of these at a time, again and again. The API's most memory is
// measured too. The baseline is the same without those bodies. The API runs in a process of its own,
// and a thread sends the bodies.

const BODIES = 20;
const BYTES = 4_000_000;
const SMALL_BODIES = 100;
const SMALL_BYTES = 60_000;
const HONEST_BYTES = 100_000;
const ATTACK_MS = 4_000;
const PAUSE_MS = 5;

const logger = createLogger({ name: 'bench', level: 'error' });
const shutdown = createShutdown({ logger, timeoutMs: 60_000 });
shutdown.onSignals();
try {
  await run();
} finally {
  await shutdown.run();
}

function bodiesFor(model: string): [name: string, body: string | undefined, count: number][] {
  const start = `{"model":${JSON.stringify(model)},"messages":`;
  const one = (content: string) => JSON.stringify([{ role: 'user', content }]);
  const nested = (bytes: number) => '['.repeat(bytes / 2 - 200) + ']'.repeat(bytes / 2 - 200);
  const text = 'lorem ipsum '.repeat(BYTES / 12 - 20);
  const part = 'lorem ipsum '.repeat(159);
  const many = Array.from({ length: MESSAGES_MAX }, () => ({ role: 'user', content: part }));
  const empty = (count: number) => `[${'{},'.repeat(count)}{}]`;
  const escapes = '\\u0041'.repeat(BYTES / 6 - 20);
  return [
    ['nothing', undefined, 0],
    ['one message', `${start}${one(text)}}`, BODIES],
    ['one message in escapes', `${start}[{"role":"user","content":"${escapes}"}]}`, BODIES],
    ['2,048 messages', `${start}${JSON.stringify(many)}}`, BODIES],
    ['one message, half of the JSON', `${start}${one(text)}`, BODIES],
    [
      'ignored empty objects, 1.3 million',
      `${start}${one('hi')},"x":${empty(BYTES / 3 - 100)}}`,
      BODIES,
    ],
    ['ignored empty objects, 16,000', `${start}${one('hi')},"x":${empty(16_000)}}`, BODIES],
    ['messages that are none, 60,000', `${start}${empty(60_000)}}`, BODIES],
    ['biases that are none, 5,000', `${start}${one('hi')},"logit_bias":${biases()}}`, BODIES],
    ['a schema of 8,000 names', `${start}${one('hi')},"response_format":${schema()}}`, BODIES],
    ['an ignored field, nested', `${start}${one('hi')},"x":${nested(BYTES)}}`, BODIES],
    ['60 KB, nested', `${start}${one('hi')},"x":${nested(SMALL_BYTES)}}`, SMALL_BODIES],
    ['60 KB of messages that are none', `${start}${empty(SMALL_BYTES / 3 - 100)}}`, SMALL_BODIES],
    [
      '60 KB of small messages',
      `${start}${JSON.stringify(many.slice(0, 1_300).map(brief))}}`,
      SMALL_BODIES,
    ],
  ];
}

function brief() {
  return { role: 'user', content: '' };
}

function schema(): string {
  const names = Array.from({ length: 8_000 }, (_, at) => [`name ${at}`, {}]);
  const json_schema = { name: 'answer', schema: Object.fromEntries(names) };
  return JSON.stringify({ type: 'json_schema', json_schema });
}

function biases(): string {
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`t${at}`, 1])),
  );
}

async function run(): Promise<void> {
  const { target, processIds, databaseUrl } = await startStubbedService({
    shutdown,
    nodeOptions: '',
  });
  const [api = 0] = processIds;
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1 });
  const stranger = async (): Promise<Target> => {
    const apiKey = await createKey(pool, Keypair.generate().publicKey.toBase58());
    return { ...target, apiKey };
  };
  const [attacker, honest] = [await stranger(), await stranger()];
  await pool.end();
  const prompt = Buffer.from(
    JSON.stringify({
      model: target.model,
      messages: [{ role: 'user', content: 'x'.repeat(HONEST_BYTES) }],
    }),
  );
  /** Nothing is locked for a wallet without credits, so this ends once its body was read. */
  const send100 = () => timed(honest, 'POST', '/chat/completions', 402, prompt);
  const sendSmall = () => timed(target, 'GET', '/account', 200);
  for (let warm = 0; warm < 300; warm += 1) await Promise.all([sendSmall(), send100()]);
  const head = [
    'bodies of a wallet without credits',
    'small request, p50 / largest ms',
    '100 KB, p50 / largest ms',
    'longest turn of the API ms',
    'bodies a second',
    'peak of the process, MiB',
    'status',
  ];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, body, count] of bodiesFor(target.model)) {
    const waitedMs: Record<'small' | 'large', number[]> = { small: [], large: [] };
    forgetPeak(api);
    await longestTurnMs(target.metricsUrl);
    const attack = await startAttack(attacker, body, count);
    const startedMs = performance.now();
    while (performance.now() - startedMs < ATTACK_MS) {
      const [small, large] = await Promise.all([sendSmall(), send100()]);
      waitedMs.small.push(small);
      waitedMs.large.push(large);
      await delay(PAUSE_MS);
    }
    const statuses = await attack.end();
    const seconds = (performance.now() - startedMs) / 1_000;
    const turnMs = await longestTurnMs(target.metricsUrl);
    table.push([
      name,
      describeMs(waitedMs.small),
      describeMs(waitedMs.large),
      turnMs.toFixed(0),
      (statuses.length / seconds).toFixed(0),
      peakMiB(api).toFixed(0),
      [...new Set(statuses)].sort().join(', '),
    ]);
  }
  console.log(table.toString());
}

function describeMs(waited: number[]): string {
  return `${percentile(waited, 50).toFixed(1)} / ${Math.max(...waited).toFixed(0)}`;
}

/** Sends the bodies again and again. @returns ends it, with the statuses that they got */
async function startAttack(
  target: Target,
  body: string | undefined,
  count: number,
): Promise<{ end(): Promise<number[]> }> {
  if (body === undefined) return { end: async () => [] };
  const workerData: Sending = { target, body, count };
  const thread = new Worker(new URL('./sendAll.ts', import.meta.url), { workerData });
  await once(thread, 'message');
  return {
    async end() {
      thread.postMessage('end');
      const [statuses] = await once(thread, 'message');
      return statuses;
    },
  };
}

/** The API's longest turn of its own thread since the last reading, to the next 10 ms. */
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

/** @returns how long a request took, in milliseconds */
async function timed(
  target: Target,
  method: string,
  path: string,
  expected: number,
  body?: Buffer,
): Promise<number> {
  const startedMs = performance.now();
  const status = await send(target, method, path, body);
  if (status !== expected) throw new Error(`${method} ${path} was answered with ${status}`);
  return performance.now() - startedMs;
}
