import pg from 'pg';
import { readNotices } from '../../common/database/mirrorNotices.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import type { Service, TestLedger } from '../../testing/ledger/ledger.ts';
import type { Random } from '../../testing/random.ts';
import { lockJob, lockOneByOne, waitUntil, watchConfirmations } from '../ledgerJobs.ts';

/**
 * Locks jobs one after the other while an indexer keeps the mirror.
 *
 * @param options.databaseUrl the URL of an empty database
 * @returns for each job, the milliseconds from the ledger's confirmation to the mirror's commit;
 *   below 0 when a sweep was faster than the ledger's subscription
 */
export async function measureLag(options: {
  ledger: TestLedger;
  service: Service;
  databaseUrl: string;
  locks: number;
  random: Random;
}): Promise<number[]> {
  const { ledger, service, databaseUrl, locks, random } = options;
  const indexer = await startIndexer(ledger, databaseUrl);
  const mirror = new pg.Client({ connectionString: databaseUrl });
  await mirror.connect();
  const mirroredAtMs = new Map<string, number>();
  mirror.on('notification', ({ payload = '' }) => {
    for (const { address } of readNotices(payload)) {
      if (!mirroredAtMs.has(address)) mirroredAtMs.set(address, performance.now());
    }
  });
  await mirror.query('listen mirror_jobs');
  // The first lock waits for the indexer's first sweep.
  await lockJob(service);
  await waitUntil('the indexer keeps the mirror', () => mirroredAtMs.size === 1);
  mirroredAtMs.clear();
  const confirmations = watchConfirmations(ledger.connection);
  await lockOneByOne(service, locks, random);
  await waitUntil('all jobs are mirrored', () => mirroredAtMs.size === locks);
  const { rows } = await mirror.query<{ address: string; escrow_tx: string }>(
    'select address, escrow_tx from mirror.jobs where address = any($1)',
    [[...mirroredAtMs.keys()]],
  );
  const lagsMs: number[] = [];
  for (const { address, escrow_tx } of rows) {
    const atMs = mirroredAtMs.get(address) as number;
    lagsMs.push(atMs - (await confirmations.atMs(escrow_tx)));
  }
  await confirmations.close();
  await mirror.end();
  await indexer.terminate();
  return lagsMs;
}
