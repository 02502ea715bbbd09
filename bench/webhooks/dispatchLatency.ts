import { request } from 'undici';
import { delay } from '../../common/wait.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createWebhookScene } from '../../testing/indexer/webhookScene.ts';
import type { Service, TestLedger } from '../../testing/ledger/ledger.ts';
import type { Random } from '../../testing/random.ts';
import { lockJobs, waitUntil, watchConfirmations } from '../ledgerJobs.ts';
import { type Endpoints, openEndpoints } from './endpoints.ts';

/** Locks come at moments that have nothing to do with anybody's polling. */
const GAP_MS_MAX = 200;

/** What is told to the endpoints: so many jobs, locked one after the other on a live ledger. */
export interface LiveLocks {
  readonly ledger: TestLedger;
  readonly service: Service;
  readonly locks: number;
  readonly random: Random;
}

/**
 * Has an indexer tell each endpoint of every job.
 *
 * @returns milliseconds from the ledger's word that a job is locked to the request's arrival, for
 *   every endpoint that answers
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
  // It would wait for the answers of the dead.
  await indexer.kill();
  await endpoints.close();
  await scene.close();
  return latenciesMs;
}

/** The same from a loop that posts what the ledger's stream says to each endpoint, unseen. */
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
  for (let lock = 0; lock < locks; lock += 1) {
    await lockJobs(service, 1);
    await delay(random.below(GAP_MS_MAX));
  }
  await waitUntil('all requests have arrived', () => arrivals.length >= locks * alive);
  const latenciesMs: number[] = [];
  for (const { atMs, body } of arrivals) {
    const { data } = JSON.parse(body) as { data: { escrow_tx: string } };
    latenciesMs.push(atMs - (await confirmations.atMs(data.escrow_tx)));
  }
  await confirmations.close();
  return latenciesMs;
}
