import { request } from 'undici';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createWebhookScene } from '../../testing/indexer/webhookScene.ts';
import type { Service, TestLedger } from '../../testing/ledger/ledger.ts';
import type { Random } from '../../testing/random.ts';
import { lockOneByOne, waitUntil, watchConfirmations } from '../ledgerJobs.ts';
import { type Endpoints, openEndpoints } from './endpoints.ts';

/** The jobs that are locked one after the other on a live ledger, and announced. */
export interface LiveLocks {
  readonly ledger: TestLedger;
  readonly service: Service;
  readonly locks: number;
  readonly random: Random;
}

/**
 * Lets an indexer announce every job to each endpoint.
 *
 * @returns milliseconds from the ledger's notification of a lock to the request's arrival, for every
 *   endpoint that answers
 */
export async function measureDispatch(
  live: LiveLocks,
  { endpoints: count, dead }: { endpoints: number; dead: number },
): Promise<number[]> {
  const { ledger, service } = live;
  const endpoints = await openEndpoints(count, dead);
  const scene = await createWebhookScene();
  const wallet = service.wallet.publicKey.toBase58();
  for (const url of endpoints.urls) {
    await scene.addWebhook({ url, wallet, events: ['job.submitted'] });
  }
  const indexer = await startIndexer(ledger, scene.databaseUrl, { SVC_ALLOW_LOOPBACK: 'true' });
  await waitUntil('the indexer is ready', async () => (await fetch(`${indexer.url}/ready`)).ok);
  const latenciesMs = await lockAndTime(live, endpoints);
  // An orderly end would wait for the dead endpoints.
  await indexer.kill();
  await endpoints.close();
  await scene.close();
  return latenciesMs;
}

/** The same from a loop that posts the ledger's notifications to each endpoint unread. */
export async function measureBareDispatch(live: LiveLocks, count: number): Promise<number[]> {
  const endpoints = await openEndpoints(count, 0);
  const { connection } = live.ledger;
  const subscription = connection.onLogs(
    PROGRAM_ID,
    ({ signature }) => {
      const body = JSON.stringify({ data: { escrow_tx: signature } });
      for (const url of endpoints.urls) void request(url, { method: 'POST', body });
    },
    'confirmed',
  );
  const latenciesMs = await lockAndTime(live, endpoints);
  await connection.removeOnLogsListener(subscription);
  await endpoints.close();
  return latenciesMs;
}

async function lockAndTime(
  { ledger, service, locks, random }: LiveLocks,
  { arrivals, alive }: Endpoints,
): Promise<number[]> {
  const confirmations = watchConfirmations(ledger.connection);
  await lockOneByOne(service, locks, random);
  await waitUntil('all requests have arrived', () => arrivals.length >= locks * alive);
  const latenciesMs: number[] = [];
  for (const { atMs, body } of arrivals) {
    const { data } = JSON.parse(body) as { data: { escrow_tx: string } };
    latenciesMs.push(atMs - (await confirmations.atMs(data.escrow_tx)));
  }
  await confirmations.close();
  return latenciesMs;
}
