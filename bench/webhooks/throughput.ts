import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { bought } from '../../testing/indexer/creditEvents.ts';
import { createWebhookScene } from '../../testing/indexer/webhookScene.ts';
import { waitUntil } from '../ledgerJobs.ts';
import { type Endpoints, openEndpoints } from './endpoints.ts';

/** The requests at the answering endpoints. */
export interface Throughput {
  readonly requests: number;
  /** The time from the first to the last. */
  readonly elapsedMs: number;
  /** The processor time of the sending process. */
  readonly processorMs: number;
}

/**
 * Announces events to each endpoint, then delivers all of them.
 *
 * @param options.backlog more events of the first endpoint, which then is not counted. With 0 it has as
 *   many as the others, and is not counted either.
 */
export async function measureDeliveries(
  events: number,
  options: { endpoints: number; dead: number; backlog?: number },
): Promise<Throughput> {
  const { endpoints: count, dead, backlog } = options;
  const endpoints = await openEndpoints(count, dead, backlog === undefined ? 0 : 1);
  const scene = await createWebhookScene();
  for (const url of endpoints.urls) await scene.addWebhook({ url });
  for (let available = 1; available <= events; available += 1) {
    await scene.announce([bought({ credits: 1, available })]);
  }
  if (backlog) await addBacklog(scene.pool, backlog);
  const throughput = await runSender('deliver.ts', [scene.databaseUrl], endpoints, events);
  await endpoints.close();
  await scene.close();
  return throughput;
}

/** Copies the first delivery, to the same endpoint. */
async function addBacklog(pool: pg.Pool, deliveries: number): Promise<void> {
  await pool.query(
    `insert into service.webhook_deliveries
       (webhook_id, event_id, event, signature, slot, created_at, body, status, due_at)
     select webhook_id, event_id || '_' || place, event, signature, slot, created_at, body, status,
       due_at
     from (select * from service.webhook_deliveries order by id limit 1) first
     cross join generate_series(1, $1::integer) place`,
    [deliveries],
  );
  await pool.query('vacuum analyze service.webhook_deliveries');
}

/** Posts the same number of requests to the same endpoints in a loop. */
export async function measureBareFetch(events: number, count: number): Promise<Throughput> {
  const endpoints = await openEndpoints(count, 0);
  const words = [String(events), ...endpoints.urls];
  const throughput = await runSender('fetchBare.ts', words, endpoints, events);
  await endpoints.close();
  return throughput;
}

async function runSender(
  script: string,
  words: readonly string[],
  { arrivals, alive }: Endpoints,
  events: number,
): Promise<Throughput> {
  const sender = fork(fileURLToPath(new URL(script, import.meta.url)), words);
  const ended = once(sender, 'exit');
  const expected = events * alive;
  await Promise.race([
    waitUntil('all requests have arrived', () => arrivals.length >= expected),
    ended.then(([code]) => Promise.reject(new Error(`${script} ended with ${code}`))),
  ]);
  sender.send('processor time');
  const [processorMs] = (await once(sender, 'message')) as [number];
  sender.kill('SIGKILL');
  await ended;
  const elapsedMs = (arrivals.at(-1)?.atMs ?? 0) - (arrivals[0]?.atMs ?? 0);
  return { requests: expected, elapsedMs, processorMs };
}
