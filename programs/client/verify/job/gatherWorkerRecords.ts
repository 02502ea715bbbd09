import type { Connection, PublicKey } from '@solana/web3.js';
import { fetchWorker } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { COMMITMENT } from '../ledgerState.ts';
import { type PlacedEvent, placeEvents } from './evidence.ts';
import type { LedgerReader } from './ledgerReader.ts';

type WorkerRecord = PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>;

/** Its authority signs little more than what changes the worker. */
const READS_MAX = 1_000;

/**
 * How the ledger recorded the keys of the job's last worker: everything from the last record before
 * the first proof or settlement up to now. Read from the transactions of the worker's authority,
 * who alone can change them; those of the worker itself would be all jobs that it ever did.
 *
 * @returns oldest first; nothing when the job was never proven
 */
export async function gatherWorkerRecords(options: {
  connection: Connection;
  addresses: Addresses;
  reader: LedgerReader;
  job: PublicKey;
  events: readonly PlacedEvent[];
}): Promise<WorkerRecord[]> {
  const { connection, addresses, reader, job, events } = options;
  const [proof] = events.filter(
    (event): event is PlacedEvent<'JobProven' | 'JobSettled'> =>
      (event.name === 'JobProven' || event.name === 'JobSettled') && event.data.job.equals(job),
  );
  if (!proof) return [];
  const { programId } = addresses;
  const worker = proof.data.worker;
  const account = await fetchWorker(connection, worker, { commitment: COMMITMENT, programId });
  if (!account) return [];
  const records: WorkerRecord[] = [];
  let reads = 0;
  for await (const signature of reader.list(account.authority)) {
    const found = await reader.read(signature);
    reads += 1;
    const made = 'transaction' in found ? placeEvents(found.transaction) : [];
    records.unshift(...recordsIn(made, worker));
    const isReached = records.some(({ transaction }) => transaction.slot < proof.transaction.slot);
    if (isReached || reads === READS_MAX) break;
  }
  return records;
}

function recordsIn(events: readonly PlacedEvent[], worker: PublicKey): WorkerRecord[] {
  return events.filter(
    (event): event is WorkerRecord =>
      (event.name === 'WorkerRegistered' || event.name === 'WorkerUpdated') &&
      event.data.worker.equals(worker),
  );
}
