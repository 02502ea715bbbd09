import { once } from 'node:events';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Keypair } from '@solana/web3.js';
import { createKey } from '../../api/account/keys.ts';
import { startStubbedService } from '../../bench/api/service.ts';
import { percentile } from '../../bench/figures.ts';
import { putUnderLoad, type Target } from '../../bench/load.ts';
import { createBenchShutdown } from '../../bench/processes.ts';
import { createPool } from '../../common/postgres.ts';
import { MESSAGES_MAX, REQUEST_BYTES_MAX } from '../../common/workerProtocol.ts';
import type { Sending } from './sendAll.ts';

// `npm run test:long -- bodies`: one paid wallet sends bodies of 2 MiB on 64 connections, again and
// again. It fails where that moves the p99 of another wallet's completions by more than 50 ms. The API
// has a process of its own, its ledger confirms at once, and a thread sends the bodies.

const MOVED_MS_MAX = 50;
/** Of the other wallet. */
const CLIENTS = 4;

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    /** Completions of the other wallet beside each kind of body: enough for a p99. */
    requests: { type: 'string', default: '2000' },
  },
});
const shutdown = createBenchShutdown();
try {
  if (!(await run())) process.exitCode = 1;
} finally {
  await shutdown.run();
}

/** As many bytes or values as there may be, in forms that differ in what they cost. */
function bodiesFor(model: string): Record<string, string> {
  const start = `{"model":${JSON.stringify(model)},"messages":`;
  const saying = (text: string) => `[{"role":"user","content":"${text}"}]`;
  const bytes = REQUEST_BYTES_MAX - 1_000;
  const text = 'lorem ipsum '.repeat(bytes / 12);
  const line = { role: 'user', content: 'x'.repeat(bytes / MESSAGES_MAX - 40) };
  const names = (spelled: string) =>
    `{${Array.from({ length: 16_000 }, (_, place) => `"${spelled}${place}":0`).join()}}`;
  const deep = '['.repeat(bytes / 2 - 100) + ']'.repeat(bytes / 2 - 100);
  const fields = (spelled: string) =>
    ['x', 'y', 'z'].map((field) => `"${field}":${names(spelled)}`).join();
  const ignored = (value: string) => `${start}${saying('hi')},${value}}`;
  return {
    'one message': `${start}${saying(text)}}`,
    'one message in escapes': `${start}${saying('\\u0041'.repeat(bytes / 6))}}`,
    'half of the JSON': `${start}${saying(text)}`,
    '2,048 messages': `${start}${JSON.stringify(Array(MESSAGES_MAX).fill(line))}}`,
    '48,000 ignored names': ignored(fields('a')),
    '48,000 ignored names in escapes': ignored(fields('\\u0061')),
    '48,000 ignored names of quotes': ignored(fields('\\"')),
    '16,000 names for a template': ignored(`"chat_template_kwargs":${names('\\u0061')}`),
    'nested too deep': ignored(`"x":${deep}`),
  };
}

/** @returns whether no kind of body moved the p99 by too much */
async function run(): Promise<boolean> {
  const { target, databaseUrl } = await startStubbedService({ shutdown, nodeOptions: '' });
  const pool = createPool({ databaseUrl, applicationName: 'bodies', max: 1 });
  const wallet = Keypair.generate().publicKey.toBase58();
  const sender: Target = { ...target, apiKey: await createKey(pool, wallet) };
  await pool.query(
    `insert into mirror.credit_accounts (
       address, wallet, limit_per_job_credits, limit_per_day_credits, spent_day,
       spent_today_credits, available_credits, locked_credits, owed_credits, open_disputes,
       opened_at, sequence)
     values ($1, $1, 1000000, 1000000, 0, 0, 1000000, 0, 0, 0, 1, 1)`,
    [wallet],
  );
  const stranger = Keypair.generate().publicKey.toBase58();
  const unpaid: Target = { ...target, apiKey: await createKey(pool, stranger) };
  await pool.end();

  const bodies = bodiesFor(target.model);
  const kinds = Object.entries(bodies).map(([name, body]) => ({ name, body, from: sender }));
  const [first] = kinds;
  if (!first) throw new Error('There is no kind of body');
  await measure(target);
  const { p50: quietP50, p99: quietP99 } = await measure(target);
  process.stdout.write(
    `without bodies: p50 ${quietP50.toFixed(1)} ms, p99 ${quietP99.toFixed(1)} ms\n`,
  );
  let isMoved = false;
  for (const { name, body, from } of [{ ...first, name: 'unpaid', from: unpaid }, ...kinds]) {
    const sending = await startSending({
      target: from,
      body,
      connections: Number(values.connections),
    });
    const startedMs = performance.now();
    const { p50, p99 } = await measure(target);
    const seconds = (performance.now() - startedMs) / 1_000;
    const statuses = await sending.end();
    const movedMs = p99 - quietP99;
    isMoved ||= movedMs > MOVED_MS_MAX;
    const counts = Map.groupBy(statuses, (status) => status);
    const answers = [...counts].map(([status, { length }]) => `${length} × ${status}`).join(', ');
    process.stdout.write(
      `${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, moved by ${movedMs.toFixed(0)} ms, ` +
        `${(statuses.length / seconds).toFixed(0)} bodies a second (${answers}), ` +
        `load ${loadavg()[0]?.toFixed(1)}\n`,
    );
  }
  return !isMoved;
}

async function measure(target: Target): Promise<{ p50: number; p99: number }> {
  const requests = Number(values.requests);
  const { samples } = await putUnderLoad(target, { clients: CLIENTS, requests, stream: false });
  const failed = samples.find(({ error }) => error !== undefined);
  if (failed) throw new Error(`A completion beside the bodies was refused: ${failed.error}`);
  const waitedMs = samples.map(({ durationMs }) => durationMs);
  return { p50: percentile(waitedMs, 50), p99: percentile(waitedMs, 99) };
}

/** Sends bodies again and again. @returns ends it, with the statuses that they got */
async function startSending(workerData: Sending): Promise<{ end(): Promise<number[]> }> {
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
